// Keeps the dashboard up to date. Whatever a caller may have chosen reaches the page by `textContent` alone.
"use strict";

const $ = (id) => document.getElementById(id);
const maxDelay = 10_000;
const shownCalls = 100;
let pages = new Set(); // "GET /metrics" and so on, as far as this address serves them.
let [timer, failures, polls, awaySince] = [0, 0, 0, null];
let recent = [];

// Elements

/** Makes an element; `children` are elements or texts. */
function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function makeSVG(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Writes a text, if it is another one; `value` is the exact number behind it. */
function write(element, text, value) {
  if (element.textContent !== String(text)) element.textContent = text;
  if (value !== undefined) element.dataset.value = value;
  return element;
}

/** Has one child of `parent` for each item, by a key, so that focus, selection and what is open stay. */
function sync(parent, items, key, create, update = () => {}) {
  const known = parent.known ?? (parent.known = new Map());
  const keys = new Set(items.map(key));
  for (const [name, element] of known) {
    if (!keys.has(name)) (known.delete(name), element.remove());
  }
  let next = parent.firstElementChild;
  for (const item of items) {
    let element = known.get(key(item));
    if (!element) known.set(key(item), (element = create(item)));
    if (element === next) next = next.nextElementSibling;
    else parent.insertBefore(element, next);
    update(element, item);
  }
  const empty = $(`${parent.id}-empty`);
  if (empty) empty.hidden = items.length > 0;
  const table = parent.closest("table");
  if (table) table.hidden = items.length === 0;
}

/** Has a row of a table for each list of cells; the first cell is the key. A cell is a text, or a text and its value. */
function rows(body, lists, className = () => "") {
  const create = (list) => make("tr", "", ...list.map((_, index) => make("td", className(index))));
  const update = (row, list) => list.forEach((cell, index) => write(row.children[index], ...[cell].flat()));
  sync(body, lists, (list) => list.slice(0, 2).join("\n"), create, update);
}

// Numbers

const count = (number) => Math.round(number).toLocaleString("en");
const percent = (part, whole) => (whole > 0 ? `${((part / whole) * 100).toFixed(part > 0 && part < whole / 10 ? 2 : 0)} %` : "0 %");

function rate(number) {
  return number >= 100 ? count(number) : number.toFixed(number > 0 && number < 10 ? 1 : 0);
}

/** A length of time in seconds, for people. */
function time(seconds) {
  if (seconds === null || Number.isNaN(seconds)) return "–";
  if (seconds >= 1) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return seconds < 0.001 ? `${(seconds * 1e6).toFixed(0)} µs` : `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB"];
  const unit = Math.min(3, Math.floor(Math.log2(Math.max(1, number)) / 10));
  return `${(number / 1024 ** unit).toFixed(unit > 0 && number / 1024 ** unit < 10 ? 1 : 0)} ${units[unit]}`;
}

/** A length of time in its two largest units. */
function span(seconds) {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].map(([size, name], index, all) => {
    const rest = index ? Math.floor(seconds) % all[index - 1][0] : Math.floor(seconds);
    return [Math.floor(rest / size), name];
  });
  const first = Math.max(0, parts.findIndex(([number]) => number > 0));
  const shown = seconds < 1 ? [[0, "s"]] : parts.slice(first, first + 2).filter(([number]) => number > 0);
  return shown.map((part) => part.join(" ")).join(" ");
}

// The other pages

function showStatus(text) {
  const lines = text.split("\n");
  const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const [version, , uptime] = (lines.find((line) => line.startsWith("martlet ")) ?? "").split(", ");
  const state = lines[0] === "ready" || lines[0] === "draining" ? lines[0] : "unready";
  document.body.dataset.state = state;
  write($("state-text"), state === "ready" ? "Ready" : state === "draining" ? "Draining" : `Not ready: ${lines[0]}`);
  document.title = `${state === "ready" ? "" : "! "}Martlet`;
  const from = lines.findIndex((line) => line.startsWith("last reload: "));
  const details = lines.slice(from + 1).filter((line, index, all) => all.slice(0, index + 1).every((one) => one.startsWith("  ")));
  const facts = [["Version", version?.replace("martlet ", "")], ["Up", uptime?.replace("up ", "")], ["File", field("file")],
    ["Generation", field("generation")], ["Last reload", [field("last reload"), ...details.map((line) => line.trim())].join("; ")]];
  const create = ([name]) => make("div", "", make("dt", "", name), make("dd"));
  sync($("facts"), facts.filter(([, value]) => value), ([name]) => name, create, (item, [, value]) => write(item.lastChild, value));
}

/** A dot and a word, so that nobody needs the colour. */
const word = (text, kind) => make("span", `word ${kind}`, make("span", "dot"), make("span", "", text));

/** Makes each thing anew if it has changed. */
function showThings(list, things, fill) {
  const create = () => make("li");
  sync(list, things, ({ name }) => name, create, (item, thing) => {
    const parts = fill(thing);
    if (item.textContent !== make("li", "", ...parts).textContent) item.replaceChildren(...parts);
  });
}

function showUpstreams({ upstreams }) {
  const address = (one) => {
    const kind = one.state === "in" ? "is-good" : one.state === "out" ? "is-bad" : "is-warn";
    const times = one.out_ms === undefined ? "" : `out for ${span(one.out_ms / 1000)}${one.probe_in_ms === undefined ? "" : `, probe in ${span(one.probe_in_ms / 1000)}`}`;
    const why = one.reason ? `${one.reason} (${times})` : one.check === "unknown" ? "no result of a health check yet" : null;
    const number = `${count(one.calls)} ${one.calls === 1 ? "call" : "calls"}, ${count(one.connections)} open`;
    return make("li", "", make("div", "row", word(`${one.address} ${one.state}`, kind), make("span", "number", number)), why ? make("p", "soft", why) : null);
  };
  showThings($("upstreams"), upstreams, (one) => [
    make("div", "row", make("strong", "", one.name), make("span", "number", one.url)),
    one.last_error ? make("p", "error", one.last_error) : "",
    one.addresses.length ? make("ul", "addresses", ...one.addresses.map(address)) : "",
  ]);
}

function showCredentials({ credentials }) {
  showThings($("credentials"), credentials, (one) => {
    const left = one.expires_at ? (Date.parse(one.expires_at) - Date.now()) / 1000 : null;
    const text = left === null ? "does not say when it ends" : left > 0 ? `${span(left)} left` : `expired ${span(-left)} ago`;
    const kind = one.state === "valid" ? "is-good" : one.state === "fetching" ? "is-warn" : "is-bad";
    return [
      make("div", "row", word(`${one.name}: ${one.state}`, kind), make("span", "number", ["valid", "expired"].includes(one.state) ? text : one.kind)),
      one.last_error ? make("p", "error", one.last_error) : "",
    ];
  });
}

// Calls

const nameOf = (call) => (call.service && call.method ? `${call.service}/${call.method}` : `${call.http_method} ${call.path}`);
const target = (call) => [call.upstream, call.upstream_address].filter(Boolean).join(" ");

function showActive({ calls }) {
  write($("active-count"), calls.length ? count(calls.length) : "", calls.length);
  const create = (call) => make("li", "", make("div", "row", make("span", "name", nameOf(call)), make("span", "number")), make("p", "soft"), make("div"));
  sync($("active"), calls.slice(0, shownCalls), ({ call }) => call, create, (item, call) => {
    const [row, text, bars] = item.children;
    write(row.lastChild, time(call.elapsed_ms / 1000), call.elapsed_ms);
    const speed = call.bytes_per_s ? `, ${bytes(call.bytes_per_s)}/s` : "";
    write(text, `${call.phase}${target(call) ? ` → ${target(call)}` : ""}, from ${call.peer}${speed}`);
    const parts = ["request", "response"].filter((part) => call[`${part}_bytes`] > 0).map((part) => ({ part, done: call[`${part}_bytes`], length: call[`${part}_length`] }));
    const make1 = ({ part }) => make("div", "", make("span", "second"), make("progress"));
    sync(bars, parts, ({ part }) => part, make1, (bar, { part, done, length }) => {
      write(bar.firstChild, `${part}: ${bytes(done)}${length ? ` of ${bytes(length)}` : ""}`, done);
      Object.assign(bar.lastChild, { hidden: !length, max: length ?? 1, value: done, ariaLabel: part });
    });
  });
}

function showRecent({ calls }) {
  recent = calls;
  const codes = [...new Set(calls.map(({ code }) => code))].sort();
  const [fixed, select] = [2, $("code")];
  const known = [...select.options].slice(fixed).map(({ value }) => value);
  for (const code of codes) if (!known.includes(code)) select.add(new Option(code, code));
  showFiltered();
}

function showFiltered() {
  const [text, code] = [$("filter").value.trim().toLowerCase(), $("code").value];
  const found = recent.filter((call) => (!code || (code === "failed" ? call.code !== "ok" : call.code === code)) && JSON.stringify(call).toLowerCase().includes(text));
  write($("recent-count"), found.length < recent.length ? `${found.length} of ${recent.length}` : count(recent.length), found.length);
  sync($("calls"), found.slice(0, shownCalls), ({ call, time }) => `${call} ${time}`, makeCall);
  write($("calls-empty"), recent.length ? "No call fits the filter." : "No call has ended yet.");
}

function makeCall(call) {
  const clock = make("time", "", new Date(call.time).toLocaleTimeString("en-GB"));
  clock.dateTime = call.time;
  const took = make("span", "took", time(call.duration_ms / 1000));
  took.dataset.value = call.duration_ms;
  const code = make("span", call.code === "ok" ? "code-ok" : "code-bad", call.code);
  const details = make("details", "", make("summary", "", clock, code, make("span", "name", nameOf(call)), took));
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(openCall(call)));
  return details;
}

// Asking

async function ask(path, options = {}) {
  const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(8000), ...options });
  const text = await response.text();
  if (!response.ok) throw Object.assign(new Error(text.trim()), { status: response.status });
  return text;
}

const readers = [
  ["/status", 1, showStatus],
  ["/metrics", 1, showMetrics],
  ["/calls/active", 1, (text) => showActive(JSON.parse(text))],
  ["/calls/recent", 1, (text) => $("pause").ariaPressed === "true" || showRecent(JSON.parse(text))],
  ["/upstreams", 2, (text) => showUpstreams(JSON.parse(text))],
  ["/credentials", 2, (text) => showCredentials(JSON.parse(text))],
];

/** Reads which pages there are, and shows the parts of this page that have one. */
async function readPages() {
  pages = new Set((await ask("/", { headers: { accept: "text/plain" } })).split("\n").map((line) => line.split(/\s+/, 2).join(" ")));
  for (const part of document.querySelectorAll("[data-page]")) part.hidden = !pages.has(`GET ${part.dataset.page}`);
  for (const name of ["reload", "drain"]) $(name).hidden = !pages.has(`POST /${name}`);
  $("watch").hidden = !pages.has("GET /tap");
}

async function poll() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    if (pages.size === 0) await readPages();
    const due = readers.filter(([path, every]) => pages.has(`GET ${path}`) && polls % every === 0);
    const texts = await Promise.all(due.map(([path]) => ask(path)));
    due.forEach(([, , show], index) => show(texts[index]));
    polls += 1;
    [failures, awaySince, $("away").hidden] = [0, null, true];
    timer = setTimeout(poll, 1000);
  } catch (error) {
    showAway(error);
  }
}

function showAway(error) {
  const delay = Math.min(maxDelay, 1000 * 2 ** failures++);
  awaySince ??= new Date().toLocaleTimeString("en-GB");
  pages.clear();
  polls = 0;
  document.body.dataset.state = "away";
  document.title = "! Martlet";
  write($("state-text"), error.status === 403 ? "No access" : "Away");
  write($("away-text"), error.status === 403 ? `Martlet rejects this page: ${error.message}.` : `Martlet does not respond since ${awaySince}. Its last numbers are below. The next try is in ${delay / 1000} s.`);
  $("away").hidden = false;
  timer = setTimeout(poll, delay);
}

function showResult(text, isError) {
  write($("result-text"), text);
  $("result").classList.toggle("bad", isError);
  $("result").hidden = false;
}

async function change(button, path, describe) {
  button.disabled = true;
  try {
    showResult(describe(await ask(path, { method: "POST", signal: AbortSignal.timeout(60_000) })), false);
  } catch (error) {
    showResult(error.message, true);
  }
  button.disabled = false;
  button.focus();
}

$("reload").addEventListener("click", () => change($("reload"), "/reload", (text) => {
  const { generation, needs_restart: keys } = JSON.parse(text);
  return `Martlet uses generation ${generation} now.${keys ? ` A change of ${keys.join(", ")} requires a restart.` : ""}`;
}));
$("drain").addEventListener("click", () => $("drain-dialog").showModal());
$("drain-cancel").addEventListener("click", () => $("drain-dialog").close());
$("drain-confirm").addEventListener("click", () => ($("drain-dialog").close(), change($("drain"), "/drain", () => "Martlet drains, and then stops.")));
$("dismiss").addEventListener("click", () => (($("result").hidden = true), $("reload").focus()));
$("retry").addEventListener("click", poll);
$("watch").addEventListener("click", () => (tapped ? stopWatching() : watch()));
$("pause").addEventListener("click", () => ($("pause").ariaPressed = String($("pause").ariaPressed !== "true")));
$("filter").addEventListener("input", showFiltered);
$("code").addEventListener("change", showFiltered);
document.addEventListener("visibilitychange", poll);
poll();
