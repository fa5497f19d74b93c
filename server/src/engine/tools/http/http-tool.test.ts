import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type HttpToolGrant, httpToolBody } from "@beckon/contract";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { dataOf, play } from "../../../../test/engine-run.ts";
import { says, startModelServer } from "../../../../test/model-server.ts";
import { ByteBudget } from "../../../base/byte-budget.ts";
import { createEgress } from "../../../base/egress/index.ts";
import { parseArguments } from "../../tool-call/index.ts";
import { grantedTools } from "../granted-tools.ts";

interface Got {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
const got: Got[] = [];
let answer: RequestListener = (_request, response) => void response.end();
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    got.push({
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    answer(request, response);
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
/** Nothing listens on this port. */
const closedHost = "127.0.0.1:9";
const models = await startModelServer();
const waits = {
  connectTimeoutMs: 2_000,
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 20_000,
  totalTimeoutMs: 20_000,
};
const egress = createEgress({ ...waits, allow: [host, closedHost] });
afterAll(async () => {
  await egress.close();
  await models.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  got.length = 0;
  models.reset();
});

const secret = "sk-secret-of-the-shop";
const services = {
  fetch: egress.fetchEncoded,
  openSecret: async (id: string, origin: string) =>
    id === "sec_1" && origin === `http://${host}` ? secret : undefined,
};
const context = { idempotencyKey: "run_1:call_1", signal: new AbortController().signal };

const parameters = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const operations = {
  read: {
    name: "read",
    description: "x",
    method: "GET",
    url: `http://${host}/orders/{id}`,
    parameters,
  },
  write: {
    name: "write",
    description: "x",
    method: "POST",
    url: `http://${host}/orders/{id}`,
    parameters,
    body: {
      type: "object",
      properties: { text: { type: "string" }, source: { const: "beckon" } },
      required: ["text"],
    },
    idempotency_header: "Idempotency-Key",
  },
};

function granted(change: object = {}): HttpToolGrant {
  const all = Object.values(operations);
  return httpToolBody.parse({
    type: "http",
    name: "shop",
    allowed_hosts: [host],
    operations: all,
    ...change,
  }) as HttpToolGrant;
}
function toolNamed(name: string, change: object = {}) {
  const tool = grantedTools([granted(change)], services).find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  return tool;
}
const withSecret = { headers: { authorization: { secret_id: "sec_1", prefix: "Bearer " } } };
const read = (change: object = {}) => toolNamed("read", change).execute({ id: "7" }, context);
const json = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  answer = (_request, response) =>
    void response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(body));
};

describe("the request", () => {
  test("has the operation's method, address, headers and body, with the model's values", async () => {
    json(201, { ok: true });
    expect(
      await toolNamed("write").execute({ id: "7", body: { text: "hi" } }, context),
    ).toMatchObject({ status: 201, body: { ok: true } });
    expect(got).toMatchObject([
      { method: "POST", url: "/orders/7", body: '{"text":"hi","source":"beckon"}' },
    ]);
    expect(got[0]?.headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": "run_1:call_1",
      "user-agent": "Beckon",
      host,
    });
  });

  test("has integers that a number cannot represent as the model wrote them", async () => {
    json(200, {});
    const integer = { type: "integer", minimum: 1 };
    const tool = toolNamed("write", {
      operations: [
        {
          ...operations.write,
          query: { after: "{after}" },
          parameters: { ...parameters, properties: { id: integer, after: integer } },
          body: { type: "object", properties: { order: integer } },
        },
      ],
    });
    const text =
      '{"id":1234567890123456789,"after":9007199254740993,"body":{"order":9007199254740995}}';
    const parsed = parseArguments(text);
    if (!parsed.ok) expect.fail(parsed.mistake);
    expect(tool.check?.(parsed.value)).toBeUndefined();
    await tool.execute(parsed.value, context);
    expect(got).toMatchObject([
      {
        url: "/orders/1234567890123456789?after=9007199254740993",
        body: '{"order":9007199254740995}',
      },
    ]);
    expect(JSON.stringify(parsed.value)).toBe(text);
    const negative = parseArguments('{"id":-1234567890123456789,"body":{}}');
    expect(negative.ok && tool.check?.(negative.value)).toBe("id must be at least 1");
    const endless = parseArguments(`{"id":1${"0".repeat(400)},"body":{}}`);
    expect(endless.ok && tool.check?.(endless.value)).toBe("id must be a whole number");
    const escaped = parseArguments('{"id":1234567890123456789,"note":"\\\\ud800"}');
    expect(escaped.ok && JSON.stringify(escaped.value)).toBe(
      '{"id":1234567890123456789,"note":"\\\\ud800"}',
    );
    const asText = parseArguments('{"id":1234567890123456789,"body":{"text":""}}');
    expect(asText.ok && toolNamed("write").check?.(asText.value)).toBe("id must be a string");
  });

  test("is not made for arguments that need too many checks", () => {
    const anyOf = Array.from({ length: 20 }, () => ({ type: "null" }));
    const body = { type: "array", items: { anyOf: [{ anyOf }, { type: "integer" }] } };
    const tool = toolNamed("write", { operations: [{ ...operations.write, body }] });
    const args = { id: "7", body: Array.from({ length: 50_000 }, () => 0) };
    expect(tool.check?.(args)).toBe(
      "The values need more than 250,000 checks. Send fewer or shorter values",
    );
  });

  test("has each secret in its header, with its prefix, or in its query", async () => {
    json(200, {});
    await read({ ...withSecret, query: { key: { secret_id: "sec_1" } } });
    expect(got[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(got[0]?.url).toBe(`/orders/7?key=${secret}`);
  });

  test("is not sent without its secret", async () => {
    await expect(read({ headers: { "x-key": { secret_id: "sec_2" } } })).rejects.toThrow(
      /^read was not called: its credential was never entered, was deleted,/,
    );
    expect(got).toEqual([]);
  });

  test("is not sent if arguments are invalid", () => {
    const { check } = toolNamed("write");
    expect(check?.({ id: "7", body: { text: "hi" } })).toBeUndefined();
    expect(check?.({ id: "7" })).toBe("body is missing");
    expect(check?.({ id: "7", body: { text: "hi", source: "me" } })).toBe("body.source is unknown");
    expect(check?.({ id: "..", body: { text: "hi" } })).toMatch(/must not be \. or \.\./);
    expect(check?.({ id: "../admin", body: { text: "hi" } })).toMatch(
      /id must not contain a slash/,
    );
    expect(check?.({ id: "7", body: { text: "hi" }, headers: { "x-evil": "1" } })).toBe(
      "headers is unknown",
    );
    expect(check?.({ id: "7", body: { text: "hi" }, url: "http://evil.example" })).toBe(
      "url is unknown",
    );
  });

  test("hides address, headers and secrets from the model", () => {
    const { name, description, parameters: shown } = toolNamed("write", withSecret);
    expect(JSON.stringify({ name, description, shown })).not.toMatch(
      /127\.0|authorization|sec_1|beckon/i,
    );
    expect(shown).toEqual({
      type: "object",
      properties: {
        id: { type: "string" },
        body: {
          type: "object",
          properties: { text: { type: "string" } },
          required: ["text"],
          additionalProperties: false,
        },
      },
      required: ["id", "body"],
      additionalProperties: false,
    });
  });
});

describe("the response", () => {
  test.each([200, 204, 400, 401, 404, 409, 429, 500, 503])(
    "is a result with status %i",
    async (status) => {
      json(status, status === 204 ? "" : { said: "so" }, {
        "retry-after": "3",
        "set-cookie": "a=b",
        server: "x",
      });
      const result = (await read()) as { status: number; headers: object };
      expect(result.status).toBe(status);
      expect(result.headers).toEqual({ "content-type": "application/json", "retry-after": "3" });
    },
  );

  test("is a redirect with a note, and is not followed", async () => {
    json(302, {}, { location: `http://${host}/elsewhere` });
    expect(await read(withSecret)).toMatchObject({
      status: 302,
      headers: { location: `http://${host}/elsewhere` },
      note: "Redirects are not followed.",
    });
    expect(got).toHaveLength(1);
  });

  test("shows integers that a number cannot represent as texts", async () => {
    answer = (_request, response) =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"id":1234567890123456789,"lines":[-9007199254740993,9007199254740991],"price":1.5}');
    expect(await read()).toMatchObject({
      body: {
        id: "1234567890123456789",
        lines: ["-9007199254740993", 9_007_199_254_740_991],
        price: 1.5,
      },
    });
  });

  test("is shown as text if it is text or invalid JSON", async () => {
    answer = (_request, response) =>
      void response.writeHead(200, { "content-type": "application/json" }).end("{oops");
    expect(await read()).toMatchObject({ body: "{oops" });
    answer = (_request, response) =>
      void response
        .writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" })
        .end(Buffer.from([0xe4]));
    expect(await read()).toMatchObject({ body: "ä" });
  });

  test.each<[number, Buffer, object]>([
    [200, gzipSync("x".repeat(9_999)), { body: "x".repeat(9_999) }],
    [204, Buffer.from(""), {}],
  ])(
    "can be compressed although the request did not accept it (%i)",
    async (status, sent, shown) => {
      answer = (_request, response) =>
        void response.writeHead(status, { "content-encoding": "gzip" }).end(sent);
      expect(await read()).toEqual({ status, headers: {}, ...shown });
    },
  );

  test("is not shown if it is no text", async () => {
    answer = (_request, response) =>
      void response
        .writeHead(200, { "content-type": "image/png" })
        .end(Buffer.from([0x89, 0x50, 0xff, 0x00]));
    expect(await read()).toEqual({
      status: 200,
      headers: { "content-type": "image/png" },
      note: "The body is not text and is not shown.",
    });
  });

  test("is truncated with a note if it is long, and its rest is not read", async () => {
    let writtenBytes = 0;
    answer = (_request, response) => {
      const more = () => {
        while (!response.destroyed && writtenBytes < 500_000_000) {
          writtenBytes += 65_536;
          if (!response.write("ä".repeat(32_768))) return void response.once("drain", more);
        }
      };
      more();
    };
    const result = (await read({ max_response_bytes: 1_001 })) as { body: string; note: string };
    expect(result.body).toBe("ä".repeat(500));
    expect(result.note).toBe(
      "The body was truncated: it has more than 1001 bytes, and only the first ones are shown.",
    );
    expect(writtenBytes).toBeLessThan(100_000_000);
  });

  test("does not reveal the secret if the server repeats it", async () => {
    answer = (request, response) => {
      response.writeHead(200, { "content-type": "application/json", location: `/?key=${secret}` });
      response.end(
        JSON.stringify({
          sent: request.headers,
          base64: Buffer.from(secret).toString("base64"),
          [secret]: 1,
        }),
      );
    };
    const shown = JSON.stringify(await read(withSecret));
    expect(shown).toContain("[secret]");
    expect(shown).not.toMatch(/sk-secret|c2stc2/);
  });

  test.each(["utf8", "utf16le", "latin1"] as const)(
    "does not reveal a part of the secret where it is truncated, in %s",
    async (encoding) => {
      const charset = { utf8: "utf-8", utf16le: "utf-16le", latin1: "iso-8859-1" }[encoding];
      for (let bytes = 1; bytes <= 60; bytes += 3) {
        answer = (_request, response) => {
          response.writeHead(200, { "content-type": `text/plain; charset=${charset}` });
          response.end(Buffer.from(`0123456789${secret}${"x".repeat(100)}`, encoding));
        };
        const { body = "" } = (await read({ ...withSecret, max_response_bytes: bytes })) as {
          body?: string;
        };
        expect(`0123456789[secret]${"x".repeat(100)}`).toContain(body);
      }
    },
  );
});

describe("a failure", () => {
  test.each<[string, RequestListener, RegExp]>([
    ["a reset", (request) => request.socket.resetAndDestroy(), /^The call failed \([A-Z_]+\)\.$/],
    [
      "a body cut short",
      (_request, response) =>
        void response
          .writeHead(200, { "content-length": "100" })
          .write("abc", () => response.destroy()),
      /^The call failed \([A-Z_]+\)\.$/,
    ],
    [
      "no HTTP",
      (request) => void request.socket.end("SSH-2.0-OpenSSH\r\n"),
      /^The call failed( \([A-Z_]+\))?\.$/,
    ],
  ])("shows only its code for %s", async (_what, does, expected) => {
    answer = does;
    const message = await read(withSecret).then(String, (thrown: Error) => thrown.message);
    expect(message).toMatch(expected);
    expect(message).not.toContain("127.0.0.1");
  });

  test("is a timeout if the server stays silent; the effect of a changing call is then unknown", async () => {
    answer = () => undefined;
    await expect(read({ timeout_seconds: 1 })).rejects.toThrow(
      "The server did not send a complete response within 1 seconds.",
    );
    const writing = toolNamed("write", { timeout_seconds: 1 }).execute(
      { id: "7", body: { text: "hi" } },
      context,
    );
    await expect(writing).rejects.toThrow("The call may or may not have taken effect.");
  });

  test("says that a changing call may have taken effect, except if no connection was opened", async () => {
    const writing = (change: object = {}) =>
      toolNamed("write", change).execute({ id: "7", body: { text: "hi" } }, context);
    answer = (request) => request.socket.resetAndDestroy();
    await expect(writing()).rejects.toThrow(
      /^The call failed \([A-Z_]+\)\. The call may or may not have taken effect\.$/,
    );
    const url = `http://${closedHost}/orders/{id}`;
    await expect(
      writing({ allowed_hosts: [closedHost], operations: [{ ...operations.write, url }] }),
    ).rejects.toThrow(/^The call failed \(ECONNREFUSED\)\.$/);
  });

  test("has the status if no memory is left for the response, and says that a changing call may have taken effect", async () => {
    json(201, { id: 7 });
    const full = { ...context, memory: new ByteBudget({ maxBytes: 10 }).hold("A") };
    const writing = toolNamed("write").execute({ id: "7", body: { text: "hi" } }, full);
    await expect(writing).rejects.toThrow(
      /^The response, with status 201, was not read: .* The call may or may not have taken effect\.$/,
    );
  });

  test("is the run's stop reason if the run stops", async () => {
    answer = () => stop.abort(new Error("the run was stopped"));
    const stop = new AbortController();
    await expect(
      toolNamed("read").execute({ id: "7" }, { ...context, signal: stop.signal }),
    ).rejects.toThrow("the run was stopped");
  });

  test("is egress's if a configured host is not public", async () => {
    const url = "http://169.254.169.254/latest/{id}";
    const change = {
      allowed_hosts: ["169.254.169.254"],
      operations: [{ ...operations.read, url }],
    };
    await expect(read(change)).rejects.toThrow(
      /169\.254\.169\.254:80 was not called: its host is not a public address/,
    );
  });
});

describe("the calls of one run", () => {
  const call = (id: string, name = "read") => ({
    id,
    name,
    arguments: name === "read" ? '{"id":"7"}' : '{"id":"7","body":{"text":"hi"}}',
  });

  test("are limited over all operations of the tool together, with an error for the model", async () => {
    json(200, {});
    models.script([
      says({ calls: [call("c1"), call("c2", "write"), call("c3")] }),
      says({ calls: [call("c4")] }),
      says("done"),
    ]);
    const { journal, outcome } = await play(models.url, {
      tools: grantedTools([granted({ max_calls_per_run: 2 })], services),
    });
    expect(outcome).toMatchObject({ status: "succeeded" });
    expect(got).toHaveLength(2);
    expect(dataOf(journal, "run.tool_call").map(({ call_id }) => call_id)).toEqual(["c1", "c2"]);
    const rejected = dataOf(journal, "run.tool_result").filter(
      (each) => each.outcome === "refused",
    );
    expect(rejected.map(({ call_id }) => call_id)).toEqual(["c3", "c4"]);
    expect(rejected[0]?.result).toMatch(/^At most 2 calls of shop are made in one run/);
  });

  test("leave no trace of the secret in the journal", async () => {
    answer = (request, response) => void response.end(JSON.stringify(request.headers));
    models.script([says({ calls: [call("c1")] }), says("done")]);
    const { journal } = await play(models.url, {
      tools: grantedTools([granted(withSecret)], services),
    });
    expect(got[0]?.headers.authorization).toContain(secret);
    expect(JSON.stringify([journal.entries, models.requests])).not.toContain(secret);
  });
});
