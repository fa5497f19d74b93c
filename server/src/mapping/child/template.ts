import { Liquid } from "liquidjs";
import { Failure, messageOf } from "./failure.ts";
import { parseNested, toJson } from "./parse-payload.ts";

/** Returns the message. @throws Failure */
export type MessageTemplate = (variables: object) => string;

/** Filters that calculate. Those of LiquidJS cannot calculate with bigints. */
const mathFilters =
  "abs at_least at_most ceil divided_by floor minus modulo plus round sum times to_integer";

/**
 * Creates the compiler of templates. There are no tags that read other templates, and no filters
 * that parse an argument as an expression, so that text in a payload is never executed.
 * @param limits `timeoutMs` of one rendering; `maxObjects`: limit of what one rendering creates, in
 *   the units of liquidjs (characters and elements)
 */
export function templateCompiler(limits: {
  readonly timeoutMs: number;
  readonly maxObjects: number;
}): (text: string) => MessageTemplate {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    // With this empty set of templates, LiquidJS never reads a file.
    templates: {},
    dynamicPartials: false,
    relativeReference: false,
    parseLimit: 200_000,
    renderLimit: limits.timeoutMs,
    memoryLimit: limits.maxObjects,
    timezoneOffset: 0,
    locale: "en-US",
    outputEscape: asText,
  });
  for (const tag of ["include", "render", "layout", "block"]) delete engine.tags[tag];
  for (const name of Object.keys(engine.filters))
    if (name.endsWith("_exp")) engine.unregisterFilter(name);
  for (const name of ["json", "jsonify", "inspect"])
    engine.registerFilter(name, (value: unknown, indent: unknown) =>
      toJson(value ?? null, typeof indent === "number" ? Math.min(indent, 10) : undefined),
    );
  engine.registerFilter("parse_json", function (value: unknown) {
    // A missing field stays missing, as with other filters.
    if (value === null || value === undefined) return null;
    if (typeof value !== "string") throw new Error("The value for parse_json is not text");
    this.context.memoryLimit.use(value.length);
    return parseNested(value);
  });
  for (const name of mathFilters.split(" ")) withIntegers(engine, name);

  return (text) => {
    const template = failing(() => engine.parse(text));
    return (variables) => {
      const message: unknown = failing(() =>
        renderWithin(limits.timeoutMs, () => engine.renderSync(template, variables)),
      );
      // PostgreSQL stores no NUL in text, and UTF-8 has no lone surrogates.
      return String(message).replaceAll("\0", "\ufffd").toWellFormed();
    };
  };
}

const renderLimitError = "template render limit exceeded";

/**
 * LiquidJS limits elapsed time, not CPU time. If the process has mostly waited for a CPU on a busy
 * machine, the template is rendered again.
 */
function renderWithin(timeoutMs: number, render: () => unknown): unknown {
  for (let attempt = 1; ; attempt++) {
    const before = process.cpuUsage();
    try {
      return render();
    } catch (thrown) {
      const { user, system } = process.cpuUsage(before);
      const hadTime = (user + system) / 1_000 >= timeoutMs / 2;
      if (attempt === 5 || hadTime || !messageOf(thrown).startsWith(renderLimitError)) throw thrown;
    }
  }
}

/** Objects and lists are shown as JSON, which models read better than `[object Object]`. */
function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? toJson(value) : String(value);
}

/**
 * Makes a filter calculate exactly if it can do so with integers. Otherwise it gets large integers
 * as numbers.
 */
function withIntegers(engine: Liquid, name: string): void {
  const filter = engine.filters[name];
  if (typeof filter !== "function") return;
  const toNumber = (value: unknown) => (typeof value === "bigint" ? Number(value) : value);
  engine.registerFilter(name, function (...args: unknown[]) {
    const exact = exactly(name, args);
    if (exact === undefined || exact > maxInteger || exact < -maxInteger)
      return filter.apply(this, args.map(toNumber) as Parameters<typeof filter>);
    // Only numbers are equal to the numbers in a template.
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  });
}

/** Larger results would take longer and longer in a loop. Payloads have no larger integers. */
const maxInteger = 10n ** 400n;

/** Returns the result if value and argument are integers, and it is one; else undefined. */
function exactly(name: string, args: readonly unknown[]): bigint | undefined {
  const [value, argument = args.length === 1 ? 0n : undefined] = args.map(integerOf);
  if (value === undefined || argument === undefined) return undefined;
  switch (name) {
    case "abs":
      return value < 0n ? -value : value;
    case "ceil":
    case "floor":
    case "to_integer":
      return value;
    case "round":
      return argument >= 0n ? value : undefined;
  }
  if (args.length === 1) return undefined;
  switch (name) {
    case "plus":
      return value + argument;
    case "minus":
      return value - argument;
    case "times":
      return value * argument;
    default:
      return undefined;
  }
}

/** Returns an integer, or a text of its digits, as a bigint; undefined for any other value. */
function integerOf(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  const isInteger =
    typeof value === "string" ? /^-?\d{1,400}$/.test(value) : Number.isSafeInteger(value);
  return isInteger ? BigInt(value as string | number) : undefined;
}

const tooDeep = "The template, or what it shows, is nested too deeply.";

function failing<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new Failure("template", tooDeep);
    const [line] = positionOf(thrown);
    const text = messageOf(thrown)
      .replace(/, (?:file:[^,]*, )?line:\d+, col:\d+$/, "")
      .trim();
    throw new Failure("template", explain(text), line);
  }
}

function explain(text: string): string {
  if (text.startsWith("Maximum call stack")) return tooDeep;
  if (text.includes("memory alloc limit"))
    return "The template creates too much text or too many elements. Show less of the payload.";
  if (text.startsWith(renderLimitError))
    return "The template takes too long. Show less of the payload, with fewer loops.";
  if (text.includes("parse length limit"))
    return "The template is too long. The limit is 200,000 characters.";
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Returns line and column of an error of liquidjs, counted from 1. */
function positionOf(thrown: unknown): [line: number | null, column: number | null] {
  if (typeof thrown !== "object" || thrown === null || !("token" in thrown)) return [null, null];
  const { token } = thrown;
  if (typeof token !== "object" || token === null || !("getPosition" in token)) return [null, null];
  const { getPosition } = token;
  if (typeof getPosition !== "function") return [null, null];
  const [line, column]: [number, number] = getPosition.call(token);
  return [line, column];
}
