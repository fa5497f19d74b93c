import { isUtf8 } from "node:buffer";
import { METHODS } from "node:http";
import { errorResponse } from "@beckon/contract";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { startModelServer } from "../../test/model-server.ts";
import { type Exchange, type ExchangeOptions, rawExchange } from "../../test/raw-exchange.ts";

/**
 * Sends unexpected input to both entry points that start runs. After every exchange, checks that
 * each response has the API's format, that no response is a 5xx except for a failed run, and that
 * the responses named all new runs and no run that does not exist. The last test checks that each
 * run has called the model once.
 *
 * This file is long because all properties share the set `known`, and because it contains the
 * generators of their inputs.
 */

// Each request has its own address, so that failed authentications are not rate limited.
const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const models = await startModelServer();
afterAll(() => models.close());
const { name: provider } = await beckon.createProvider(models.url);
const agent = await beckon.createAgent({ model: `${provider}/echo` });
const trigger = await beckon.createTrigger(agent.id);
const prefixed = await beckon.createTrigger(agent.id, { prompt_prefix: "Read this:" });
const invokePath = `/api/public/agents/${agent.id}/invoke`;
const firePath = new URL(trigger.url).pathname;

/** Ids of the runs that `newRuns` has returned so far. */
const known = new Set<string>();

/** Returns the ids of the runs that were created since the last call. */
async function newRuns(): Promise<string[]> {
  const { rows } = await beckon.db.database.engine.query<{ id: string }>(
    "select id from runs where not (id = any ($1)) order by id",
    [[...known]],
  );
  for (const { id } of rows) known.add(id);
  return rows.map(({ id }) => id);
}

/**
 * Checks the format of one response. Returns the id of the run that it names; undefined for an
 * error response without a run.
 */
function checked(
  status: number,
  contentType: string | null | undefined,
  text: string,
): string | undefined {
  expect(contentType).toBe("application/json");
  const body = JSON.parse(text) as Record<string, unknown>;
  if (body.ok === true) {
    expect([200, 202]).toContain(status);
    expect(body.run_id).toMatch(/^run_[0-9a-z]{26}$/);
    return String(body.run_id);
  }
  expect(errorResponse.strict().parse(body).error).toMatch(/^\S.*\.$/s);
  if (status < 500) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).not.toHaveProperty("run_id");
    return undefined;
  }
  expect(status).toBe(500);
  expect(body.code).not.toBe("internal_error");
  expect(body.run_id).toMatch(/^run_/);
  return String(body.run_id);
}

/** Expects that the responses named each new run, and that each run that they named exists. */
async function expectOnlyRuns(namedRuns: readonly (string | undefined)[]): Promise<void> {
  const added = await newRuns();
  const answered = namedRuns.filter((run) => run !== undefined);
  expect(answered).toEqual(expect.arrayContaining(added));
  expect([...known]).toEqual(expect.arrayContaining(answered));
}

async function exchange(
  bytes: Buffer,
  options: ExchangeOptions = {},
): Promise<Exchange & { statuses: number[] }> {
  const result = await rawExchange(beckon.url, bytes, options);
  expect(result.rest).toBe("");
  await expectOnlyRuns(
    result.answers.map(({ status, headers, text }) =>
      // Not checked: responses without a body, and the dashboard's page at `/`, which is HTML.
      (text === "" && (options.isHead || status === 204)) ||
      (status === 200 && headers.get("content-type")?.startsWith("text/html"))
        ? undefined
        : checked(status, headers.get("content-type"), text),
    ),
  );
  return { ...result, statuses: result.answers.map(({ status }) => status) };
}

async function send(
  path: string,
  bytes: Uint8Array,
  headers: Record<string, string>,
): Promise<{ status: number; body: Record<string, string> }> {
  const body = new Uint8Array(bytes);
  const response = await fetch(beckon.url + path, {
    method: "POST",
    body,
    headers: { ...headers, "x-forwarded-for": address() },
  });
  const text = await response.text();
  await expectOnlyRuns([checked(response.status, response.headers.get("content-type"), text)]);
  return { status: response.status, body: JSON.parse(text) };
}

async function inputOf(runId: string | undefined): Promise<string> {
  return (await beckon.call(`/runs/${runId}`)).body.data.input;
}

let addresses = 0;
function address(): string {
  addresses++;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** Checks the property with 200 inputs. With a time limit, a failure would depend on the speed. */
async function holds<T>(
  inputs: fc.Arbitrary<T>,
  predicate: (input: T) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(inputs, async (input) => {
    await predicate(input);
  });
  const { failed, seed, counterexamplePath, counterexample, errorInstance } = await fc.check(
    property,
    { numRuns: 200 },
  );
  if (!failed) return;
  const input = fc.stringify(counterexample).slice(0, 2_000);
  throw new Error(`seed ${seed}, path ${counterexamplePath}: ${input}`, { cause: errorInstance });
}

const nested = fc
  .tuple(fc.integer({ min: 1, max: 50_000 }), fc.constantFrom(["[", "]"], ['{"a":', "}"]))
  .map(
    ([depth, [open = "", close = ""]]) =>
      open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth),
  );
const number = fc.constantFrom(
  "1e999",
  "-1e999",
  "9".repeat(1_000),
  "0.1e-9999",
  "-0",
  "01",
  "1.",
  "NaN",
  "0x1",
);
const jsonText = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  nested,
  number,
);
/**
 * Valid or almost valid UTF-8: any bytes, text, JSON, with a byte order mark, or with one changed
 * byte.
 */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array)),
  fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
  jsonText.map((text) => Buffer.from(text)),
  fc.json().map((text) => Buffer.from(`\ufeff${text}`)),
  fc.tuple(fc.json(), fc.nat(), fc.nat({ max: 255 })).map(([text, at, byte]) => {
    const buffer = Buffer.from(text);
    buffer[at % buffer.length] = byte;
    return buffer;
  }),
);
const mediaType = fc.oneof(
  fc.constantFrom(
    ...[
      "application/json",
      "APPLICATION/JSON",
      "application/json; charset=utf-8",
      "text/json;charset=utf-16",
      "application/cloudevents+json",
    ],
    ...[
      "text/plain",
      "text/html; charset=iso-8859-1",
      "text/",
      "application/x-www-form-urlencoded",
      "application/x-www-form-urlencoded; charset=unknown",
    ],
    ...[
      "multipart/form-data; boundary=x",
      "application/xml",
      "image/png",
      "*/*",
      "json",
      "/json",
      "application/+json",
      "application/jsonp",
      ";",
      ",",
      "a/b/json",
    ],
  ),
  fc
    .string({ unit: fc.constantFrom(...'ajson/+;=, "\t') })
    .filter((text) => text.trim() === text && text !== ""),
);

/**
 * Returns what the route that fires a trigger must read from this body: text, a form, or, if it
 * must reject the body, the status of the error.
 */
function expectedPayload(
  body: Buffer,
  type: string | undefined,
): string | number | { readonly form: URLSearchParams } {
  const essence = (type ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const isText = essence === "" || essence.startsWith("text/");
  const isForm = essence === "application/x-www-form-urlencoded";
  const [main, sub, more] = essence.split("/");
  const isJson =
    main !== "" &&
    more === undefined &&
    (sub === "json" || (sub?.endsWith("+json") && sub.length > 5));
  if (!isText && !isForm && !isJson) return 415;
  if (!isUtf8(body) || body.includes(0)) return 400;
  const text = body.toString("utf8");
  if (text === "" || (isText && !isJson) || parses(text)) return text;
  if (isJson) return 400;
  if (!text.includes("=")) return text;
  return isPercentEncodedUtf8(text) ? { form: new URLSearchParams(text) } : 400;
}

function isPercentEncodedUtf8(form: string): boolean {
  try {
    // A percent sign that encodes no byte stands for itself.
    decodeURIComponent(form.replace(/%(?![\da-f]{2})/gi, "%25"));
    return true;
  } catch {
    return false;
  }
}

function parses(text: string): boolean {
  return parsed(text) !== undefined;
}

/** Parses JSON, which can begin with a byte order mark. Returns undefined if it is invalid. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return undefined;
  }
}

test("fire passes on every body that the contract allows, unchanged, and rejects others", async () => {
  const forms = fc
    .oneof(fc.webQueryParameters(), fc.string({ unit: fc.constantFrom(..."a=&%+0") }))
    .map((text) => Buffer.from(text));
  const inputs = fc.tuple(
    fc.oneof({ weight: 4, arbitrary: bytes }, forms),
    fc.option(mediaType, { nil: undefined }),
    fc.boolean(),
  );
  await holds(inputs, async ([body, type, hasPrefix]) => {
    const url = new URL(hasPrefix ? prefixed.url : trigger.url).pathname;
    const answer = await send(url, body, type === undefined ? {} : { "content-type": type });
    const payload = expectedPayload(body, type);
    if (typeof payload === "number") return expect(answer.status).toBe(payload);
    if (payload === "" && !hasPrefix) return expect(answer.status).toBe(400);
    expect(answer.status).toBe(200);
    const input = await inputOf(answer.body.run_id);
    const received = hasPrefix ? input.replace(/^Read this:(\n\n)?/, "") : input;
    if (typeof payload === "string") return expect(received).toBe(payload);
    const names = new Set(payload.form.keys());
    const fields = [...names].map((name) => [name, payload.form.getAll(name)] as const);
    expect(Object.entries(JSON.parse(received) as object).sort()).toEqual(
      fields.map(([name, values]) => [name, values.length === 1 ? values[0] : values]).sort(),
    );
  });
});

test("invoke echoes its input if the body is valid, with any content type, and rejects others", async () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("\0", "\ud800", "\udc00", "a", "\ufeff", " ") }),
  );
  const bodies = fc.oneof(
    bytes,
    fc
      .record(
        { input: fc.oneof(text, fc.jsonValue()), other: fc.jsonValue() },
        { requiredKeys: ["input"] },
      )
      .map((value) => Buffer.from(JSON.stringify(value))),
    fc
      .tuple(jsonText, jsonText)
      .map(([first, second]) => Buffer.from(` {"input":${first},"input":${second}}\r\n`)),
    fc
      .tuple(text, nested)
      .map(([input, other]) => Buffer.from(`{"other":${other},"input":${JSON.stringify(input)}}`)),
  );
  await holds(fc.tuple(bodies, fc.option(mediaType, { nil: undefined })), async ([body, type]) => {
    const value = isUtf8(body) && !body.includes(0) ? parsed(body.toString("utf8")) : undefined;
    const input =
      typeof value === "object" && value !== null && !Array.isArray(value) && "input" in value
        ? value.input
        : undefined;
    const good =
      typeof input === "string" && input !== "" && input.isWellFormed() && !input.includes("\0");
    // The model would repeat a blank input, and a blank answer counts as none.
    if (good && input.trim() === "") return;
    const answer = await send(invokePath, body, {
      "x-api-key": agent.token,
      ...(type === undefined ? {} : { "content-type": type }),
    });
    expect(answer.status).toBe(good ? 200 : 400);
    if (good) expect(answer.body.output).toBe(input);
  });
});

/** Returns a request as bytes. The caller gives the headers for length and connection. */
function request(
  method: string,
  target: string,
  headers: readonly string[],
  body: Buffer | string = "",
): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: localhost",
    `X-Forwarded-For: ${address()}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

const closing = "Connection: close";
const hello = '{"input":"Hello"}';
const credential = `x-api-key: ${agent.token}`;
const sized = `Content-Length: ${hello.length}`;

test("any headers get a response in our format, and only the exact credential, sent once, starts a run", async () => {
  const names = fc.constantFrom(
    "Accept",
    "Prefer",
    "Content-Type",
    "Content-Encoding",
    "Cookie",
    "Expect",
    "X-Forwarded-For",
    "Idempotency-Key",
    "webhook-id",
    "Upgrade",
    "Range",
    "__proto__",
    "constructor",
  );
  const values = fc.oneof(
    fc.constantFrom(
      "",
      ",",
      '"',
      '""',
      "*/*",
      "respond-async",
      "wait=0",
      "wait=99999999999",
      "wait=-1",
      "gzip",
      "100-continue",
      "websocket",
      "h2c",
      "a".repeat(300),
    ),
    fc
      .string({
        unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
        maxLength: 20,
      })
      .map((value) => value.replaceAll(/[\r\n]/g, "")),
  );
  const others = fc.array(
    fc.tuple(names, values).map(([name, value]) => `${name}: ${value}`),
    { maxLength: 4 },
  );
  const secret = agent.token;
  const credentials = fc.oneof(
    { weight: 2, arbitrary: fc.constant([credential]) },
    fc.constantFrom(
      [],
      [credential, credential],
      [credential, "x-api-key: "],
      [`x-api-key: "${secret}"`],
      [`x-api-key: Bearer ${secret}`],
      [`Authorization: Bearer ${secret}`],
    ),
    fc.constantFrom(
      [`x-api-key: ${secret.toUpperCase()}`],
      [`x-api-key: ${secret},${secret}`],
      [`x-api-key: ${trigger.token}`],
      [`x-api-key: ${secret.slice(0, -1)}`],
      [`x-api-key: ${secret}%00`],
    ),
    fc
      .nat({ max: secret.length - 1 })
      .map((at) => [`x-api-key: ${secret.slice(0, at)}~${secret.slice(at + 1)}`]),
  );
  await holds(fc.tuple(credentials, others), async ([given, more]) => {
    const { answers } = await exchange(
      request("POST", invokePath, [...more, ...given, sized, closing], hello),
    );
    expect(answers).toHaveLength(1);
    const isValid = given.length === 1 && given[0] === credential;
    if (!isValid) expect([400, 401]).toContain(answers[0]?.status);
  });
});

test("any Idempotency-Key is rejected, or binds one run to its body", async () => {
  const character = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code));
  const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  const keys = fc.oneof(
    fc.string({ unit: printable, minLength: 1, maxLength: 255 }),
    fc.string({ unit: character, maxLength: 20 }),
    fc.constantFrom('""', '"', "a".repeat(256), " a "),
  );
  await holds(fc.tuple(keys, fc.constantFrom("invoke", "fire")), async ([key, source]) => {
    const [target, headers, other] =
      source === "fire"
        ? [firePath, [], "Hallo, Welt! 1234"]
        : [invokePath, [credential], '{"input":"Other"}'];
    const once = (body: string) =>
      exchange(
        request("POST", target, [...headers, `Idempotency-Key: ${key}`, sized, closing], body),
      );
    const [first, again, different] = [await once(hello), await once(hello), await once(other)];
    const bare = key.trim().replace(/^"(.*)"$/, "$1");
    if (!/^[\x20-\x7e]{1,255}$/.test(bare))
      return expect([first.statuses, again.statuses]).toEqual([[400], [400]]);
    expect(first.statuses).toEqual([200]);
    expect(again.answers.map(({ text }) => text)).toEqual(first.answers.map(({ text }) => text));
    expect(again.answers[0]?.headers.get("idempotency-replayed")).toBe("true");
    expect(different.statuses).toEqual([422]);
  });
});

test("only a POST to a known path starts a run, however the path is spelled", async () => {
  const methods = fc.oneof(
    fc.constantFrom(...METHODS.filter((method) => method !== "CONNECT")),
    fc.constantFrom("post", "POST ", "PO ST", "FOO", "", "P\xd6ST"),
  );
  const paths = fc.constantFrom(
    firePath,
    invokePath,
    "/api/public/triggers/",
    "/api/public/triggers",
    "/",
    "*",
    "//",
    "/api/public/agents//invoke",
  );
  const spell = fc.constantFrom<(path: string) => string>(
    (path) => path,
    (path) => `${path}/`,
    (path) => `/${path}`,
    (path) => path.replace("public", "PUBLIC"),
    (path) => path.replace("public", "%70ublic"),
    (path) => path.replace("api", "x/../api"),
    (path) => path.replace("api", "%2e%2e/api"),
    (path) => path.replaceAll("/", "\\"),
    (path) => path.replaceAll("/", "%2f"),
    (path) => `http://elsewhere.example${path}`,
    (path) => `http://[${path}`,
    (path) => `${path}?x-api-key=${agent.token}&__proto__=1`,
    (path) => `${path}#fragment`,
    (path) => `${path}%00`,
    (path) => `${path}%ff%`,
    (path) => `${path}\xff`,
    (path) => `${path};a=b`,
    (path) => `${path}?${"a".repeat(20_000)}`,
  );
  await holds(fc.tuple(methods, paths, spell), async ([method, path, spelt]) => {
    const target = spelt(path);
    const bytes = request(method, target, [credential, sized, closing], hello);
    const { statuses } = await exchange(bytes, { isHead: method === "HEAD" });
    expect(statuses).toHaveLength(1);
    // The dashboard responds to `/` with 200. Some targets have the path `/` although `path` is
    // another one: in `http://elsewhere.example*`, for example, `*` is part of the host.
    const isDashboard = path === "/" || URL.parse(target)?.pathname === "/";
    if (method.trim() !== "POST")
      expect(statuses[0]).toSatisfy(
        (status: number) =>
          status >= 400 || (method === "OPTIONS" && status === 204) || isDashboard,
      );
  });
});

/** Returns the body in chunked transfer coding: chunks of these sizes, then one with the rest. */
function chunked(body: string, sizes: readonly number[]): string {
  let rest = body;
  const pieces = sizes.map((size) => {
    const piece = rest.slice(0, size);
    rest = rest.slice(size);
    return piece;
  });
  const chunks = [...pieces, rest]
    .filter((piece) => piece !== "")
    .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return `${chunks.join("")}0\r\n\r\n`;
}

const sizes = fc.array(fc.integer({ min: 1, max: 8 }));
const endpoints = fc.constantFrom(
  { target: firePath, headers: [] as string[] },
  { target: invokePath, headers: [credential] },
);

test("a request that is truncated at any byte starts no run", async () => {
  const inputs = fc.tuple(
    endpoints,
    fc.option(sizes, { nil: undefined }),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  );
  await holds(inputs, async ([{ target, headers }, pieces, where]) => {
    const whole =
      pieces === undefined
        ? request("POST", target, [...headers, sized], hello)
        : request(
            "POST",
            target,
            [...headers, "Transfer-Encoding: chunked"],
            chunked(hello, pieces),
          );
    const { statuses } = await exchange(whole.subarray(0, Math.floor(where * whole.length)), {
      complete: true,
    });
    expect(statuses.every((status) => status === 400)).toBe(true);
  });
});

test("a body arrives complete in any chunks, with and without Expect: 100-continue", async () => {
  const inputs = fc.tuple(
    endpoints,
    sizes,
    fc.constantFrom([], ["Expect: 100-continue"], ["Expect: something-else"], ["Trailer: x"]),
  );
  await holds(inputs, async ([{ target, headers }, pieces, more]) => {
    const { answers } = await exchange(
      request(
        "POST",
        target,
        [...headers, ...more, "Transfer-Encoding: chunked", closing],
        chunked(hello, pieces),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200]);
    const { run_id: runId } = JSON.parse(answers[0]?.text ?? "") as { run_id: string };
    expect(await inputOf(runId)).toBe(target === firePath ? hello : "Hello");
  });
});

test("wrong lengths and contradicting framing get a response, and start at most what arrived complete", async () => {
  const length = fc.oneof(
    fc.nat({ max: 2 * hello.length }).map(String),
    fc.constantFrom(
      "-1",
      "+17",
      "0x11",
      "1e1",
      " 17",
      "17 ",
      "17,17",
      "",
      "a",
      "9".repeat(30),
      "1048577",
      "99999999",
    ),
  );
  const framing = fc.oneof(
    length.map((value) => [`Content-Length: ${value}`]),
    fc
      .tuple(length, length)
      .map(([first, second]) => [`Content-Length: ${first}`, `Content-Length: ${second}`]),
    fc
      .tuple(
        length,
        fc.constantFrom(
          "chunked",
          "gzip, chunked",
          "chunked, chunked",
          "identity",
          "x",
          "chunked;a=b",
        ),
      )
      .map(([value, coding]) => [`Content-Length: ${value}`, `Transfer-Encoding: ${coding}`]),
    fc
      .constantFrom("gzip", "chunked, identity", "x", "")
      .map((coding) => [`Transfer-Encoding: ${coding}`]),
    fc.constant([]),
  );
  const bodies = fc.oneof(
    fc.constant(hello),
    sizes.map((pieces) => chunked(hello, pieces)),
    fc.constantFrom("5\r\nHel\r\n0\r\n\r\n", "zz\r\n", "ffffffffffffffff\r\nx"),
  );
  await holds(fc.tuple(endpoints, framing, bodies), async ([{ target, headers }, lines, body]) => {
    const { answers, rest } = await rawExchange(
      beckon.url,
      request("POST", target, [...headers, ...lines], body),
      { complete: true },
    );
    expect(rest).toBe("");
    const namedRuns = answers.map(({ status, headers, text }) =>
      checked(status, headers.get("content-type"), text),
    );
    // A caller that disconnects may get no response although its run was started. At most one run
    // is started, and its input is part of the bytes that were sent. Starts are written in order,
    // so all runs of this exchange exist once the next request has its response.
    const next = await beckon.call(trigger.url, { body: "next" });
    const added = (await newRuns()).filter((run) => run !== next.body.run_id);
    expect(added.length).toBeLessThanOrEqual(1);
    expect(added).toEqual(expect.arrayContaining(namedRuns.filter((run) => run !== undefined)));
    for (const run of added) {
      const input = await inputOf(run);
      expect(
        [hello, "Hello", "Hel"].includes(input) ||
          body.startsWith(input) ||
          hello.startsWith(input),
      ).toBe(true);
    }
  });
});

test("pipelined requests are answered one by one, in order, whatever is sent between them", async () => {
  const kinds = fc.constantFrom(
    { status: 200, bytes: () => request("POST", firePath, [sized], hello) },
    { status: 200, bytes: () => request("POST", invokePath, [credential, sized], hello) },
    {
      status: 200,
      bytes: () => request("POST", firePath, ["Transfer-Encoding: chunked"], chunked(hello, [3])),
    },
    {
      status: 400,
      bytes: () => request("POST", invokePath, [credential, "Content-Length: 1"], "{"),
    },
    { status: 401, bytes: () => request("POST", invokePath, [sized], hello) },
    { status: 401, bytes: () => request("POST", `${firePath}x`, [sized], hello) },
    { status: 404, bytes: () => request("POST", "/nowhere", [sized], hello) },
    { status: 405, bytes: () => request("PUT", firePath, [sized], hello) },
    { status: 405, bytes: () => request("GET", firePath, []) },
    {
      status: 415,
      bytes: () => request("POST", firePath, ["Content-Type: image/png", sized], hello),
    },
  );
  await holds(fc.array(kinds, { minLength: 2, maxLength: 8 }), async (sent) => {
    const last = request("GET", "/nowhere", [closing]);
    const { statuses } = await exchange(Buffer.concat([...sent.map(({ bytes }) => bytes()), last]));
    expect(statuses).toEqual([...sent.map(({ status }) => status), 404]);
  });
});

/**
 * The path of an unknown trigger. It differs from the path of the known trigger in two characters,
 * so that a change of one byte does not make it valid.
 */
const unknownTarget =
  firePath.slice(0, -2) +
  [...firePath.slice(-2)].map((letter) => (letter === "x" ? "y" : "x")).join("");

test("bytes that are not HTTP get a response in our format or a closed connection", async () => {
  const inputs = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 200 }).map((array) => Buffer.from(array)),
    fc
      .constantFrom(
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00",
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        `POST ${firePath} HTTP/1.1\nHost: a\n\n`,
        `POST ${firePath}\r\n\r\n`,
        `POST ${firePath} HTTP/9.9\r\nHost: a\r\n\r\n`,
      )
      .map((text) => Buffer.from(text, "latin1")),
    fc.tuple(fc.nat(), fc.nat({ max: 255 })).map(([at, byte]) => {
      const bytes = request("POST", unknownTarget, [sized], hello);
      bytes[at % bytes.length] = byte;
      return bytes;
    }),
  );
  await holds(inputs, async (input) => {
    const { statuses } = await exchange(input, { complete: true });
    expect(statuses).not.toContain(200);
  });
});

test("in the end every run has ended, with one model call each", async () => {
  await eventually("the end of all runs", async () => {
    const { rows } = await beckon.db.database.engine.query<{ open: number }>(
      "select count(*)::int as open from runs where finished_at is null",
    );
    return rows[0]?.open === 0 || undefined;
  });
  const { rows } = await beckon.db.database.engine.query<{ status: string }>(
    "select distinct status from runs",
  );
  expect(rows).toEqual([{ status: "succeeded" }]);
  expect(models.requests).toHaveLength(known.size);
  expect((await fetch(`${beckon.url}/healthz`)).status).toBe(200);
});
