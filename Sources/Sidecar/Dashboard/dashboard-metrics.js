// What the dashboard shows of `/metrics`: figures of the last minute, of the last two minutes, and since the start.
"use strict";

const samples = []; // Of the metrics, one a second, the oldest first.
const maxSamples = 121;

/** Reads Prometheus's text: the samples of each name. */
function parseMetrics(text) {
  const families = new Map();
  for (const line of text.split("\n")) {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name] = value.replace(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter));
    }
    if (!families.has(match[1])) families.set(match[1], []);
    families.get(match[1]).push({ labels, value: Number(match[3].replace("Inf", "Infinity")) });
  }
  return families;
}

/** What is kept of the metrics of one moment. */
function sample(families) {
  const all = (name) => families.get(`martlet_${name}`) ?? [];
  const sum = (name, accepts = () => true) => all(name).reduce((sum, { labels, value }) => sum + (accepts(labels) ? value : 0), 0);
  const table = (name, key) => new Map(all(name).filter(({ value }) => value > 0).map(({ labels, value }) => [key(labels), value]));
  const methods = new Map();
  for (const { labels, value } of all("rpc_duration_seconds_bucket")) {
    const name = labels.protocol === "http" ? "plain HTTP" : `${labels.rpc_service}/${labels.rpc_method}`;
    if (!methods.has(name)) methods.set(name, new Map());
    const bound = labels.le === "+Inf" ? Infinity : Number(labels.le);
    methods.get(name).set(bound, (methods.get(name).get(bound) ?? 0) + value);
  }
  return {
    at: performance.now() / 1000,
    start: families.get("process_start_time_seconds")?.[0].value,
    handled: sum("rpc_handled_total"),
    failed: sum("rpc_errors_total"),
    inFlight: sum("rpc_in_flight"),
    connections: sum("connections"),
    errors: table("rpc_errors_total", (labels) => `${labels.code}\n${labels.decided_by}`),
    limits: new Map([...table("limit_hits_total", ({ limit }) => limit), ...table("h2_limit_hits_total", ({ limit }) => `HTTP/2 ${limit}`)]),
    methods,
    sum,
    memory: families.get("process_resident_memory_bytes")?.[0].value ?? 0,
    cpu: families.get("process_cpu_seconds_total")?.[0].value ?? 0,
  };
}

/** Counts of buckets less those of an earlier moment. */
function since(buckets, earlier) {
  return new Map([...buckets].map(([bound, value]) => [bound, value - (earlier?.get(bound) ?? 0)]));
}

/** All methods together. */
function together(methods) {
  const sum = new Map();
  for (const buckets of methods.values()) for (const [bound, value] of buckets) sum.set(bound, (sum.get(bound) ?? 0) + value);
  return sum;
}

/** A quantile in seconds, within its bucket as Prometheus reckons it; null without calls, and Infinity above all bounds. */
function quantile(buckets, share) {
  const bounds = [...buckets.keys()].sort((a, b) => a - b);
  const rank = share * (buckets.get(Infinity) ?? 0);
  if (!(rank > 0)) return null;
  const index = bounds.findIndex((bound) => buckets.get(bound) >= rank);
  const [low, below] = index > 0 ? [bounds[index - 1], buckets.get(bounds[index - 1])] : [0, 0];
  return bounds[index] === Infinity ? Infinity : low + (bounds[index] - low) * ((rank - below) / (buckets.get(bounds[index]) - below));
}

/** A quantile for people; one above all bounds is said to be above the last of them. */
function quantileText(buckets, share) {
  const value = quantile(buckets, share);
  return value === Infinity ? `> ${time(Math.max(0, ...[...buckets.keys()].filter(Number.isFinite)))}` : time(value);
}

/** The newest sample that is at least so many seconds old, or the oldest. */
function ago(seconds) {
  const limit = samples.at(-1).at - seconds;
  return samples.findLast(({ at }) => at <= limit) ?? samples[0];
}

function showMetrics(text) {
  const now = sample(parseMetrics(text));
  const last = samples.at(-1);
  if (last && (last.start !== now.start || last.handled > now.handled)) samples.length = 0;
  samples.push(now);
  if (samples.length > maxSamples) samples.shift();
  const [minute, moment] = [ago(60), ago(5)];
  const seconds = Math.max(0.001, now.at - moment.at);
  showTiles(now, minute, samples.length > 1 ? (now.handled - moment.handled) / seconds : 0);
  const list = [...now.methods].map(([name, buckets]) => ({ name, buckets, fresh: since(buckets, minute.methods.get(name)) }));
  const calls = (buckets) => buckets.get(Infinity) ?? 0;
  list.sort((a, b) => calls(b.buckets) - calls(a.buckets));
  sync($("methods"), list.filter(({ buckets }) => calls(buckets) > 0), ({ name }) => name, makeMethod, ({ children }, { buckets, fresh }) => {
    write(children[1].firstChild, count(calls(fresh)), calls(fresh));
    write(children[1].lastChild, count(calls(buckets)), calls(buckets));
    [0.5, 0.9, 0.99].forEach((share, index) => {
      write(children[index + 2].firstChild, quantileText(fresh, share), quantile(fresh, share));
      write(children[index + 2].lastChild, quantileText(buckets, share), quantile(buckets, share));
    });
  });
  const fresh = (name, key) => now[name].get(key) - (minute[name].get(key) ?? 0);
  const sorted = (name) => [...now[name]].sort(([, a], [, b]) => b - a);
  rows($("errors"), sorted("errors").map(([key, value]) => [...key.split("\n"), count(fresh("errors", key)), [count(value), value]]), (index) => (index === 1 ? "left" : ""));
  rows($("limits"), sorted("limits").map(([key, value]) => [key, count(fresh("limits", key)), [count(value), value]]));
  showMeters(now, moment, seconds);
}

function makeMethod({ name }) {
  const slash = name.lastIndexOf("/");
  const service = make("span", "second", slash > 0 ? name.slice(0, slash) : "\u00a0");
  const cells = [1, 2, 3, 4].map(() => make("td", "", make("span"), make("span", "second")));
  return make("tr", "", make("td", "name", name.slice(slash + 1), service), ...cells);
}

function showTiles(now, minute, perSecond) {
  const big = (id, number, unit, value) => {
    if (!$(id).firstElementChild) $(id).append(make("span"), make("small"));
    write($(id).firstElementChild, number);
    write($(id).lastElementChild, unit);
    $(id).dataset.value = value;
  };
  const ended = now.handled - minute.handled;
  const [failed, buckets] = [now.failed - minute.failed, since(together(now.methods), together(minute.methods))];
  const [p99, p50] = [quantile(buckets, 0.99), quantile(buckets, 0.5)];
  big("rate", rate(perSecond), "/s", perSecond);
  write($("handled"), `${count(now.handled)} ended`, now.handled);
  big("in-flight", count(now.inFlight), "", now.inFlight);
  write($("connections"), `${count(now.connections)} ${now.connections === 1 ? "connection" : "connections"}`, now.connections);
  big("failed", percent(failed, ended), "", failed);
  write($("failed-all"), `${count(now.failed)} in all`, now.failed);
  const [, number, unit] = /^(.*?)(?: (\D+))?$/.exec(quantileText(buckets, 0.99));
  big("p99", number, p99 === null ? "" : unit, p99);
  write($("p50"), p50 === null ? "no call has ended" : `half take ${quantileText(buckets, 0.5)} or less`);
  const pairs = samples.slice(1).map((sample, index) => [sample, samples[index]]);
  const steps = (value) => pairs.map(([a, b]) => value(a, b) ?? 0);
  spark($("rate-line"), steps((a, b) => (a.handled - b.handled) / (a.at - b.at)));
  spark($("in-flight-line"), samples.map(({ inFlight }) => inFlight));
  spark($("failed-line"), steps((a, b) => (a.failed - b.failed) / Math.max(1, a.handled - b.handled)));
  // One stream that ends after minutes would flatten all others.
  const slow = (a, b) => Math.min(60, quantile(since(together(a.methods), together(b.methods)), 0.99) ?? 0);
  spark($("p99-line"), steps((a, b) => Math.log1p(slow(a, b) * 1000)));
}

/** Draws the values of the last two minutes, the newest at the right. */
function spark(svg, values) {
  if (!svg.firstChild) {
    svg.setAttribute("viewBox", "0 0 120 30");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.append(makeSVG("path", {}), makeSVG("polyline", {}));
  }
  const max = Math.max(...values, 1e-9);
  const points = values.map((value, index) => `${120 - (values.length - 1 - index)},${(29 - (value / max) * 27).toFixed(1)}`);
  svg.lastChild.setAttribute("points", points.join(" "));
  svg.firstChild.setAttribute("d", points.length ? `M${121 - values.length},30L${points.join("L")}L120,30Z` : "");
}

function showMeters(now, moment, seconds) {
  const callers = (name) => now.sum(name, ({ use }) => use === "callers");
  const memory = now.sum("held_memory_limit_bytes");
  const list = [
    ["Memory of calls", now.sum("held_memory_bytes"), (memory * 3) / 4, bytes],
    ["Memory of connections", now.sum("connection_memory_bytes"), memory / 4, bytes],
    ["File descriptors of callers", callers("descriptors"), callers("descriptors_limit"), count],
    ["Memory of the process", now.memory, 0, bytes],
    ["Processor", ((now.cpu - moment.cpu) / seconds) * 100, 0, (value) => `${value.toFixed(1)} %`],
  ];
  const create = ([name, , limit]) => make("li", "", make("div", "row", make("span", "", name), make("span", "number")), limit ? make("meter") : null);
  sync($("meters"), list, ([name]) => name, create, (item, [name, value, limit, form]) => {
    write(item.querySelector(".number"), limit ? `${form(value)} of ${form(limit)}` : form(value), value);
    const meter = item.querySelector("meter");
    if (meter) Object.assign(meter, { max: limit, high: limit * 0.8, value, ariaLabel: name });
  });
}
