/** The parts of a zod issue from which a message is built. */
interface Issue {
  readonly code?: string | undefined;
  readonly expected?: string | undefined;
  readonly origin?: string | undefined;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly input?: unknown;
}

/**
 * Returns what is wrong with a field in plain words; undefined for other issues, which then get the
 * message of zod. Pass this function to the resolver of a form:
 * `zodResolver(schema, { error: wording })`. Messages that the schema defines take precedence.
 */
export function wording({
  code,
  expected,
  origin,
  minimum,
  maximum,
  input,
}: Issue): string | undefined {
  const isText = origin === "string";
  const isNumber = origin === "number" || origin === "int";
  if (code === "too_small" && isText)
    return minimum === 1 || input === ""
      ? "Fill this in."
      : `Use at least ${count(minimum)} characters.`;
  if (code === "too_big" && isText) return `Use at most ${count(maximum)} characters.`;
  if (code === "too_small" && isNumber) return `Use ${count(minimum)} or more.`;
  if (code === "too_big" && isNumber) return `Use ${count(maximum)} or less.`;
  if (code !== "invalid_type") return undefined;
  if (input === undefined || input === null) return "Fill this in.";
  if (expected === "number" && isNotOnlyDigits(input))
    return "Use a whole number. Write it in digits only.";
  if (expected === "number") return "Use a number.";
  if (expected === "int") return "Use a whole number.";
  return undefined;
}

/**
 * Returns whether a text is a number that `wholeNumberIn` does not read, such as "2.5" and "1,000".
 */
const isNotOnlyDigits = (input: unknown) =>
  typeof input === "string" &&
  (Number.isFinite(Number(input)) || /^\s*\d{1,3}([.,'\s]\d{3})+\s*$/.test(input));

const count = (limit: unknown) => Number(limit).toLocaleString("en-US");

/**
 * Returns the message of a field's error as a sentence. Messages of the contract are only the end
 * of a sentence that begins with the name of the field, for example "must not be blank".
 */
export function messageOf(error: { readonly message?: string | undefined } | undefined) {
  const message = error?.message;
  if (message === undefined || message === "") return undefined;
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
