// One call: what is shown of it when somebody opens it, and calls that are watched while they happen.
"use strict";

const maxWatched = 50;
const maxEvents = 100;
let tapped = null; // Ends the request that reads the tap.

/** What is shown of a call that somebody has opened. */
function openCall(call) {
  const pairs = make("dl", "pairs");
  const skipped = ["time", "service", "method", "http_method", "path", "code", "duration_ms", "stages", "attempt_times", "spent", "trace", "message"];
  for (const [name, value] of [["request", `${call.http_method} ${call.path}`], ...Object.entries(call)]) {
    if (skipped.includes(name) || value === null) continue;
    pairs.append(make("dt", "", name.replaceAll("_", " ")), make("dd", "", typeof value === "object" ? JSON.stringify(value) : String(value)));
  }
  const trace = (call.trace ?? []).map((one) => {
    const what = make("span", "", make("strong", "", one.interceptor), ` ${one.event}: ${one.verdict}`, one.reason ? `, ${one.reason}` : "");
    const changes = one.changes?.length ? make("p", "soft", one.changes.join(", ")) : null;
    return make("li", "", make("div", "row", what, make("span", "number", one.ms === undefined ? "" : time(one.ms / 1000))), changes);
  });
  const message = call.message ? make("p", "error", call.message) : null;
  return make("div", "opened", message, stageBars(call), trace.length ? make("ol", "trace", ...trace) : null, pairs, callActions(call));
}

/** The stages of a call, and its attempts if there were several: name, start and length in milliseconds. */
function stagesOf(call) {
  const stages = call.stages ?? {};
  const steps = [["name", stages.dns_ms], ["connect", stages.tcp_ms], ["TLS", stages.tls_ms], ["HTTP/2", stages.http2_ms]].filter(([, ms]) => ms !== undefined);
  const queue = (stages.connect_ms ?? 0) - steps.reduce((sum, [, ms]) => sum + ms, 0);
  const total = call.duration_ms;
  if (call.attempt_times) return attemptsOf(call, total);
  const parts = [["chain", stages.chain_ms], ["queue", steps.length === 0 || queue > total / 1000 ? stages.connect_ms && Math.max(0, queue) : undefined], ...steps, ["first byte", stages.first_byte_ms]]
    .filter(([, ms]) => ms !== undefined);
  const rest = total - parts.reduce((sum, [, ms]) => sum + ms, 0);
  if (rest > total / 1000) parts.push([parts.length === 0 ? "chain" : stages.first_byte_ms === undefined ? "no response" : "body", rest]);
  let before = 0;
  const placed = parts.map(([name, ms]) => [name, (before += ms) - ms, ms]);
  return placed;
}

/** The chain, each attempt of several, and the pauses between them. */
function attemptsOf(call, total) {
  let end = call.stages?.chain_ms ?? 0;
  const bars = [["chain", 0, end]];
  call.attempt_times.forEach((one, index) => {
    if (one.began_ms - end > total / 1000) bars.push(["pause", end, one.began_ms - end]);
    end = Math.max(end, one.ended_ms);
    bars.push([`${index + 1}: ${one.code ?? (one.status >= 400 ? `HTTP ${one.status}` : one.result)}`, one.began_ms, one.ended_ms - one.began_ms]);
  });
  return bars;
}

/** A bar for each stage of a call, where it lies in the time of the call. */
function stageBars(call) {
  const total = call.duration_ms;
  return make("div", "stages", ...stagesOf(call).flatMap(([name, start, ms]) => {
    const [x, width] = [total ? (start / total) * 100 : 0, total ? Math.max(0.5, (ms / total) * 100) : 0];
    const bar = makeSVG("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    bar.append(makeSVG("rect", { class: "track", width: 100, height: 10 }), makeSVG("rect", { x: Math.min(x, 99.5), width, height: 10 }));
    return [make("span", "soft", name), bar, make("span", "number", time(ms / 1000))];
  }));
}

/** The buttons of a call that somebody has opened, and the line that repeats it. */
function callActions(call) {
  const line = make("pre", "line");
  line.hidden = true;
  line.tabIndex = 0;
  const button = (text, onClick) => {
    const element = make("button", "", text);
    element.type = "button";
    element.addEventListener("click", () => onClick(element));
    return element;
  };
  const copy = (element, text) => navigator.clipboard.writeText(text).then(() => write(element, "Copied"));
  const show = (view) => async () => {
    try {
      write(line, (await ask(`/calls/${call.call}/curl?view=${view}`)).trimEnd());
    } catch (error) {
      write(line, error.message);
    }
    line.hidden = copyLine.hidden = false;
    line.scrollIntoView({ block: "nearest" });
  };
  const copyLine = button("Copy the line", (element) => copy(element, line.textContent));
  copyLine.hidden = true;
  const repeat = pages.has("GET /tap") ? [button("Show curl line", show("caller")), button("For the upstream", show("upstream")), copyLine] : [];
  return make("div", "", make("div", "buttons", ...repeat, button("Copy as JSON", (element) => copy(element, JSON.stringify(call, null, 2)))), line);
}

// Watching

/** Shows calls with their messages while they happen, until `stopWatching`. */
async function watch() {
  tapped = new AbortController();
  $("watch").ariaPressed = "true";
  $("watched-part").hidden = false;
  const calls = new Map();
  try {
    const response = await fetch("/tap?messages=true&rate=50/s", { signal: tapped.signal });
    if (!response.ok) throw new Error(await response.text());
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const lines = (rest + piece.value).split("\n");
      rest = lines.pop();
      for (const line of lines) noteEvent(JSON.parse(line), calls);
      showWatched(calls);
    }
  } catch (error) {
    if (error.name !== "AbortError") showResult(error.message, true);
  }
  stopWatching();
}

function stopWatching() {
  tapped?.abort();
  tapped = null;
  $("watch").ariaPressed = "false";
}

/** Adds an event to its call; the first one begins it. */
function noteEvent(event, calls) {
  if (event.event === "request") {
    calls.set(event.call, { head: event, events: [], end: null });
    if (calls.size > maxWatched) calls.delete(calls.keys().next().value);
  }
  const missing = event.event === "skipped" ? `${event.calls} calls` : event.lost ? `${event.lost} lines` : null;
  if (missing) write($("watched-missing"), `${missing} were left out: too much happens.`);
  const call = calls.get(event.call);
  if (!call) return;
  if (event.event === "end") call.end = event;
  if (call.events.length < maxEvents) call.events.push(event);
}

function showWatched(calls) {
  const create = ({ head }) => {
    const clock = make("time", "", new Date(head.time).toLocaleTimeString("en-GB"));
    const summary = make("summary", "", clock, make("span"), make("span", "name", nameOf(head)), make("span", "took"));
    return make("details", "", summary, make("div", "opened", make("ol", "trace"), make("div")));
  };
  sync($("watched"), [...calls.values()].reverse(), ({ head }) => head.call, create, (item, { head, events, end }) => {
    const [summary, opened] = item.children;
    const code = write(summary.children[1], end ? end.code : "…");
    code.className = !end ? "soft" : end.code === "ok" ? "code-ok" : "code-bad";
    write(summary.lastChild, end ? time(end.duration_ms / 1000) : "");
    sync(opened.firstChild, events, (event) => events.indexOf(event), (event) => make("li", "", make("div", "row", make("span", "name", eventText(event)), make("span", "number", event.at_ms === undefined ? "" : time(event.at_ms / 1000)))));
    if (end && !opened.lastChild.firstChild) opened.lastChild.append(stageBars(end), callActions({ ...head, ...end }));
  });
}

/** An event in words. */
function eventText(event) {
  const content = event.json === undefined ? event.text ?? event.base64 ?? `${event.bytes} bytes, not shown` : JSON.stringify(event.json);
  switch (event.event) {
    case "request": return `→ ${event.protocol} ${event.http_method} ${event.target}, from ${event.peer}`;
    case "message": return `${event.direction === "request" ? "→" : "←"} ${content}${event.cut ? "…" : ""}`;
    case "response": return `← HTTP ${event.status}`;
    case "trailers": return `← ${Object.entries(event.headers).map(([name, value]) => `${name}: ${value}`).join(", ")}`;
    default: return `${event.code}${event.message ? `: ${event.message}` : ""}`;
  }
}
