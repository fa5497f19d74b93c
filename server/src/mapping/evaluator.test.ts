import { maxInputBytes } from "@beckon/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLog } from "../base/log.ts";
import { createEvaluator } from "./evaluator.ts";
import { MappingError, type MappingVariables } from "./mapping.ts";

const evaluator = createEvaluator({ log: createLog("silent") });
afterAll(() => evaluator.close());

interface Given {
  readonly filter?: string;
  readonly template?: string;
  readonly json?: string;
  readonly text?: string;
  readonly variables?: Partial<MappingVariables>;
  readonly tenant?: string;
}

function evaluate(payload: unknown, { filter, template, json, text, variables, tenant }: Given) {
  return evaluator.evaluate({
    tenant: tenant ?? "wsp_1",
    filter: filter ?? null,
    template: template ?? null,
    variables: {
      payload:
        text === undefined
          ? { format: "json", text: json ?? JSON.stringify(payload) }
          : { format: "text", text },
      headers: { "x-github-event": "push" },
      query: { shop: "one" },
      event: { id: "e1", type: "push" },
      files: [{ name: "a.txt", type: "text/plain", size: 3, id: "art_1" }],
      received_at: "2026-01-31T09:30:00.000Z",
      ...variables,
    },
  });
}
const passes = async (payload: unknown, filter: string, more: Given = {}) =>
  (await evaluate(payload, { filter, ...more })).passes;
const render = async (payload: unknown, template: string, more: Given = {}) =>
  (await evaluate(payload, { template, ...more })).message;
const failure = async (payload: unknown, given: Given) => {
  const result = await evaluate(payload, given).catch((thrown: unknown) => thrown);
  expect(result).toBeInstanceOf(MappingError);
  const { part, message, line } = result as MappingError;
  return { part, message, line };
};

// The first evaluation waits for the child to start. This one takes that time, so that the first
// test does not.
beforeAll(() => render(null, "x"));

describe("a filter", () => {
  test.each([
    ["payload.action == 'opened' && payload.count > 2", true],
    ["payload.count == 3.0 && payload.count + 1 == 4 && payload.price > 1", true],
    ["double(payload.count) * payload.price > 4.0", true],
    ["has(payload.missing) && payload.missing > 1", false],
    ["payload.list.exists(x, x.name == 'b')", true],
    ["payload.list.map(x, x.name) == ['a', 'b'] && size(payload.list) == 2", true],
    ["'action' in payload && !('constructor' in payload)", true],
    ["headers['x-github-event'] == 'push' && query.shop == 'one' && event.type == 'push'", true],
    ["files[0].name.endsWith('.txt') && files[0].size < 10", true],
    ["timestamp(received_at) > timestamp('2026-01-01T00:00:00Z')", true],
    ["payload.action.matches('^(open|clos)ed$') && payload.action.lowerAscii() == 'opened'", true],
    ["payload.nothing == null && !has(payload.nothing)", true],
    ["payload == {'a': 1}", false],
  ])("%s is %s", async (filter, expected) => {
    const payload = {
      action: "opened",
      count: 3,
      price: 1.5,
      list: [{ name: "a" }, { name: "b" }],
      nothing: null,
    };
    expect(await passes(payload, filter)).toBe(expected);
  });

  test("compares integers up to 64 bits exactly", async () => {
    const json = '{"id":9007199254740993,"max":9223372036854775807,"more":18446744073709551616}';
    expect(await passes(0, "payload.id == 9007199254740993", { json })).toBe(true);
    expect(await passes(0, "payload.id == 9007199254740992", { json })).toBe(false);
    expect(await passes(0, "payload.max == 9223372036854775807", { json })).toBe(true);
    expect(await passes(0, "payload.more > 1.8e19", { json })).toBe(true);
  });

  test("sees own properties only, however they are called", async () => {
    const json = '{"__proto__":{"a":1},"constructor":{"name":"Array"},"toString":2}';
    const filter =
      "payload['__proto__'].a == 1 && payload.constructor.name == 'Array' && payload.toString == 2";
    expect(await passes(0, filter, { json })).toBe(true);
    expect(await passes({}, "has(payload.toString) || '__proto__' in payload")).toBe(false);
  });

  test("that is not true or false fails", async () => {
    expect(await failure({ a: 1 }, { filter: "payload.a" })).toEqual({
      part: "filter",
      message: "A filter must be true or false, but this one is of type int.",
      line: null,
    });
  });

  test("that reads a missing field says what to do, and in which line", async () => {
    const filter = "event.type == 'push' &&\n payload.a.b == 1";
    expect(await failure({ a: {} }, { filter })).toEqual({
      part: "filter",
      message: "There is no field b in this request. Test for it first with has(….b).",
      line: 2,
    });
  });

  test.each([
    [
      "headers['x-shop'] == 'a'",
      'There is no field x-shop in this request. Test for it first with "x-shop" in ….',
    ],
    [
      "has(headers['x-shop'])",
      'has(…) needs a field, such as has(payload.a). If a name has other characters, write "x-a" in headers.',
    ],
    ["payload.list[0] == 1", "There is no element 0. Test the length first with size(…)."],
    ["has(payload.a.b.c)", "There is no field b in this request. Test for it first with has(….b)."],
  ])("%s fails with a message that says what to write", async (filter, message) => {
    expect(await failure({ a: {}, list: [] }, { filter })).toMatchObject({ message });
  });
});

describe("a template", () => {
  test.each([
    ["{{ payload.user.name | upcase }}: {{ payload.n | plus: 1 }}", "ADA: 4"],
    ["{% for x in payload.list %}{{ forloop.index }}={{ x }};{% endfor %}", "1=a;2=b;"],
    ["{% if payload.gone %}yes{% else %}no{% endif %}{{ payload.gone.deeper }}", "no"],
    [
      "{{ payload.user }} {{ payload.list }} {{ payload.list | json }}",
      '{"name":"ada"} ["a","b"] ["a","b"]',
    ],
    ["{{ received_at | date: '%Y-%m-%d %H:%M' }}", "2026-01-31 09:30"],
    [
      "{{ headers['x-github-event'] }} {{ query.shop }} {{ event.type }} {{ files[0].name }}",
      "push one push a.txt",
    ],
    ["{% assign payload = 1 %}{{ payload }}", "1"],
    ["{% raw %}{{ x }}{% endraw %}", "{{ x }}"],
  ])("%j renders %j", async (template, expected) => {
    const payload = { user: { name: "ada" }, n: 3, list: ["a", "b"] };
    expect(await render(payload, template)).toBe(expected);
  });

  test("is not rendered if the filter is false, and null without a template", async () => {
    const template = "{{ payload | no_such_filter }}";
    expect(await evaluate({}, { filter: "false", template })).toEqual({
      passes: false,
      message: null,
    });
    expect(await evaluate({}, { filter: "true" })).toEqual({ passes: true, message: null });
  });

  test("never parses what it shows", async () => {
    const text = "{{ event.type }}{% assign x = 1 %}{% include 'x' %}";
    expect(await render(0, "{{ payload }}", { text })).toBe(text);
    expect(
      await render([text], "{{ payload | join: '' }}{{ payload[0] | append: payload[0] }}"),
    ).toBe(text.repeat(3));
  });

  test("shows text as text, and large integers exactly", async () => {
    expect(await render(0, "{{ payload }}", { text: '{"a":1}' })).toBe('{"a":1}');
    const json = '{"id":12345678901234567890,"list":[1e3,0.1,12345678901234567]}';
    expect(await render(0, "{{ payload.id }} {{ payload }}", { json })).toBe(
      '12345678901234567890 {"id":12345678901234567890,"list":[1000,0.1,12345678901234567]}',
    );
  });

  test.each([
    ["text", '"1700000000000000000"', "1700000000000000000"],
    ["a fraction", "0.30000000000000004", "0.30000000000000004"],
    ["an integer", "820982911946154508", "820982911946154508"],
  ])("reads 1 MiB with 16 digits in %s in time", async (_, ts, shown) => {
    const json = `{"ts":${ts},"v":[${"0,1,".repeat(262_000)}0]}`;
    expect(await render(0, "{{ payload.ts }}", { json })).toBe(shown);
  });

  test.each([
    ["payload.id | to_integer", "820982911946154508"],
    ["payload.negative | abs", "9007199254740993"],
    ["payload.negative | floor", "-9007199254740993"],
    ["payload.id | ceil", "820982911946154508"],
    ["payload.id | round", "820982911946154508"],
    ["payload.id | round: 2", "820982911946154508"],
    ["payload.id | plus: 1", "820982911946154509"],
    ["1 | plus: payload.id", "820982911946154509"],
    ["payload.id | minus: payload.id", "0"],
    ["payload.negative | minus: -9007199254740991", "-2"],
    ["payload.id | times: -1", "-820982911946154508"],
    ["payload.ms | times: 1000001", "1700001700123000123"],
    ["payload.text | plus: 1", "18446744073709551616"],
    ["payload.text | to_integer", "18446744073709551615"],
  ])("calculates exactly with large integers: %s", async (expression, shown) => {
    const json =
      '{"id":820982911946154508,"negative":-9007199254740993,"ms":1700000000123,"text":"18446744073709551615"}';
    expect(await render(0, `{{ ${expression} }}`, { json })).toBe(shown);
  });

  test.each([
    ["payload.id | plus: 0.5", "820982911946154500"],
    ["payload.id | round: -3", "820982911946155000"],
    ["payload.id | at_least: 1", "820982911946154500"],
    ["payload.id | divided_by: 2", "410491455973077250"],
    ["payload.id | plus", "NaN"],
    ["3 | plus: 1.5", "4.5"],
    ["'007' | plus: '1'", "8"],
    ["-1.5 | abs", "1.5"],
    ["1234 | round: -2", "1200"],
  ])("calculates with numbers in all other cases: %s", async (expression, shown) => {
    const json = '{"id":820982911946154508}';
    expect(await render(0, `{{ ${expression} }}`, { json })).toBe(shown);
  });

  test("that squares an integer again and again stays small", async () => {
    const template =
      "{% assign x = payload %}{% for i in (1..40) %}{% assign x = x | times: x %}{% endfor %}{{ x }}";
    expect(await render(0, template, { json: "820982911946154508" })).toBe("Infinity");
  });

  test("compares large integers as text", async () => {
    const json = '{"id":820982911946154508}';
    const template =
      '{% assign id = payload.id | append: "" %}{% if id == "820982911946154508" %}same{% endif %}';
    expect(await render(0, template, { json })).toBe("same");
  });

  test("sees own properties only", async () => {
    const template =
      "{{ payload.constructor }}{{ payload.toString }}{{ payload.list.constructor.name }}{{ payload.text.length.constructor }}{{ payload.list | map: 'constructor' | join: ',' }}{{ payload.__proto__ }}";
    expect(await render({ list: ["a"], text: "b" }, template)).toBe("");
    expect(await render(0, "{{ payload.__proto__.a }}", { json: '{"__proto__":{"a":1}}' })).toBe(
      "1",
    );
  });

  test("cannot change what a later evaluation sees", async () => {
    const json = '{"__proto__":{"leak":1},"constructor":{"prototype":{"leak":1}}}';
    await render(0, "{% assign leak = payload %}{% increment counter %}{{ payload | json }}", {
      json,
    });
    expect(await render({}, "{{ leak }}{{ payload.leak }}{{ counter }}", { tenant: "wsp_2" })).toBe(
      "",
    );
  });

  test("gives text that the database can store", async () => {
    const payload = { a: "x\0y", b: "\ud800" };
    expect(await render(payload, "{{ payload.a }}{{ payload.b }}")).toBe("x\ufffdy\ufffd");
  });

  test.each([
    ["include", "{% include 'child/main.ts' %}"],
    ["render", "{% render '/etc/passwd' %}"],
    ["layout", "{% layout 'x' %}"],
    ["block", "{% block x %}{% endblock %}"],
  ])("has no tag %s", async (tag, template) => {
    const [mistake] = await evaluator.check({ tenant: "wsp_1", filter: null, template });
    expect(mistake).toEqual({ part: "template", message: `Tag "${tag}" not found.`, line: 1 });
  });

  test.each(["where_exp", "reject_exp", "group_by_exp", "has_exp", "find_exp", "find_index_exp"])(
    "has no filter %s, which would parse a value as an expression",
    async (name) => {
      const template = `{{ payload | ${name}: 'x', payload.a }}`;
      const [mistake] = await evaluator.check({ tenant: "wsp_1", filter: null, template });
      expect(mistake?.message).toBe(`Undefined filter: ${name}.`);
    },
  );
});

describe("parse_json", () => {
  const payload = { payload: '{"type":"block_actions","id":9007199254740993,"actions":[{}]}' };

  test("reads JSON text inside a payload, in both languages", async () => {
    const json = "parse_json(payload.payload)";
    expect(
      await evaluate(payload, {
        filter: `${json}.type == 'block_actions' && ${json}.id == 9007199254740993`,
        template:
          "{% assign it = payload.payload | parse_json %}{{ it.id }} {{ it.actions }}{{ payload.gone | parse_json }}",
      }),
    ).toEqual({ passes: true, message: "9007199254740993 [{}]" });
  });

  test.each([
    ["oops", "The text for parse_json is not JSON."],
    [
      "[".repeat(201) + "]".repeat(201),
      "The text for parse_json is nested more than 200 levels deep.",
    ],
  ])("fails for %.10s", async (text, message) => {
    const template = "x\n{{ payload | parse_json }}";
    expect(await failure(text, { template })).toEqual({ part: "template", message, line: 2 });
    const filter = "true &&\n parse_json(payload) == 1";
    expect(await failure(text, { filter })).toEqual({ part: "filter", message, line: 2 });
  });
});

describe("an evaluation without end", () => {
  const list = Array.from({ length: 1_000 }, (_, index) => index);
  test.each<[string, unknown, Given, RegExp]>([
    [
      "nested loops of CEL",
      list,
      { filter: "payload.all(x, payload.all(y, payload.all(z, x + y + z >= 0)))" },
      /took longer than 100 ms/,
    ],
    [
      "lists of CEL that grow",
      list,
      { filter: "payload.map(x, payload.map(y, payload.map(z, 'text'))).size() > 0" },
      /took longer|MiB of memory/,
    ],
    [
      "nested loops of Liquid",
      {},
      { template: "{% for i in (1..100000) %}{% for j in (1..100000) %}{% endfor %}{% endfor %}" },
      /takes too long|took longer|too many/,
    ],
    [
      "text that doubles",
      {},
      {
        template:
          "{% assign a = 'xxxxxxxxxx' %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}",
      },
      /too much text/,
    ],
    [
      "a range of elements",
      {},
      { template: "{% assign a = (1..1000000000) %}{{ a | size }}" },
      /too much text/,
    ],
    ["a padded date", {}, { template: "{{ 'now' | date: '%999999999d' }}" }, /too much text/],
    [
      "a slow split",
      "x".repeat(900_000),
      {
        template:
          "{{ payload | split: '' | sort | reverse | uniq | json }}{{ payload | split: '' | sort_natural | json }}",
      },
      /took longer|too much text/,
    ],
  ])("is stopped: %s", async (_, payload, given, message) => {
    const startedAt = performance.now();
    const { message: found } = await failure(payload, given);
    expect(found).toMatch(message);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await render({}, "still here")).toBe("still here");
  });

  test("does not fail others, which wait in the same child", async () => {
    const loop = { filter: "payload.all(x, payload.all(y, payload.all(z, x + y + z >= 0)))" };
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        index % 20 === 5
          ? evaluate(list, { ...loop, tenant: "wsp_bad" })
          : evaluate({ index }, { template: "{{ payload.index }}", tenant: `wsp_${index % 3}` }),
      ),
    );
    expect(
      results.map((result) => (result.status === "fulfilled" ? result.value.message : "failed")),
    ).toEqual(results.map((_, index) => (index % 20 === 5 ? "failed" : String(index))));
  });
});

describe("a hostile payload", () => {
  test("that is nested deeply fails the part that reads it", async () => {
    const json = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    for (const given of [{ filter: "true" }, { template: "{{ payload | json }}" }])
      expect((await failure(0, { ...given, json })).message).toMatch(/nested too deeply/);
    expect(await render({}, "still here")).toBe("still here");
  });

  test("with huge numbers is read", async () => {
    const json = `[1e400, -1e400, ${"9".repeat(5_000)}, 1.${"1".repeat(5_000)}, ${"9".repeat(300)}]`;
    expect(await passes(0, "payload[2] > 1e300 && payload.size() == 5", { json })).toBe(true);
    expect(await render(0, "{{ payload[4] }}", { json })).toBe("9".repeat(300));
  });

  test("that begins with a byte order mark is read", async () => {
    const json = '\ufeff{"id":9007199254740993}';
    expect(await passes(0, "payload.id == 9007199254740993", { json })).toBe(true);
    expect(await render(0, "{{ payload.id }}", { json: '\ufeff{"id":1}' })).toBe("1");
  });

  test("that is not JSON fails the part that reads it", async () => {
    expect((await failure(0, { template: "x", json: "{" })).part).toBe("template");
  });
});

test("a large payload is evaluated in a child of its own", async () => {
  const payload = Array.from({ length: 60_000 }, (_, index) => ({ index, text: "0123456789" }));
  const template = "{{ payload.size }} {{ payload[59999].index }}";
  expect(JSON.stringify(payload).length).toBeGreaterThan(1_048_576);
  const [large, small] = await Promise.all([
    evaluate(payload, { filter: "payload.size() > 1", template }),
    render({}, "small"),
  ]);
  expect([large.message, small]).toEqual(["60000 59999", "small"]);
});

test("a message can be as large as the input of a run, and no larger", async () => {
  const template = "{{ payload }}";
  const { message } = await evaluate("x".repeat(maxInputBytes), { template });
  expect(message).toHaveLength(maxInputBytes);
  const error = await failure("x".repeat(maxInputBytes + 1), { template });
  expect(error.message).toContain(`would have ${maxInputBytes + 1} bytes`);
});

test("a message above 1 MiB is rejected", async () => {
  const payload = "é".repeat(400_000);
  const { message } = await failure(payload, { template: "{{ payload }}{{ payload }}" });
  expect(message).toMatch(/would have 1600000 bytes; the maximum is 1048576/);
});

describe("a check", () => {
  const check = (filter: string | null, template: string | null) =>
    evaluator.check({ tenant: "wsp_1", filter, template });

  test("finds mistakes of both parts without a request", async () => {
    expect(await check("payload.a == 1 &&\n(payload.b", "a\nb {{ payload | nope }}")).toEqual([
      { part: "filter", message: expect.stringMatching(/^Column \d+: found/), line: 1 },
      { part: "template", message: "Undefined filter: nope.", line: 2 },
    ]);
    expect(
      await check("size(payload.map(x, x.a)) > 0 && [1].exists(y, y == 1)", "{{ x }}"),
    ).toEqual([]);
    expect(await check(null, null)).toEqual([]);
  });

  test.each(["paylod.a", "[1].all(x, y == x)", "payload.all(x, true) && x", "a.b.c", "{'k': v}"])(
    "finds the unknown variable of %s",
    async (filter) => {
      expect((await check(filter, null))[0]?.message).toMatch(/^There is no variable /);
    },
  );

  // Filters that are nested deeply, and not longer than a filter can be (4,000 characters).
  test.each(["(".repeat(1_990), "[".repeat(3_000), `${"!".repeat(3_990)}true`, "a?".repeat(1_999)])(
    "ends, also for %.5j…",
    async (filter) => {
      expect((await check(filter, null)).length).toBeLessThanOrEqual(1);
      expect(await render({}, "still here")).toBe("still here");
    },
  );
});
