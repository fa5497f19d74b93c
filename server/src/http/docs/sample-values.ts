/** A secret that a sample reads from an environment variable. */
export class Secret {
  readonly variable: string;

  constructor(variable: string) {
    this.variable = variable;
  }
}

/** A JSON value in a sample. It can contain instances of `Secret`. */
export type Value = unknown;

/**
 * The environment variable that a sample reads for each secret field of a body, by the field's
 * name.
 */
const secretFields: Readonly<Record<string, string>> = {
  password: "BECKON_PASSWORD",
  current_password: "BECKON_PASSWORD",
  new_password: "BECKON_NEW_PASSWORD",
  token: "BECKON_LINK_TOKEN",
  api_key: "PROVIDER_API_KEY",
};

/** Replaces the secrets at the top level of an example body by environment variables. */
export function withSecrets(example: unknown): Value {
  if (typeof example !== "object" || example === null || Array.isArray(example)) return example;
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      const env = typeof value === "string" ? secretFields[name] : undefined;
      return [name, env === undefined ? value : new Secret(env)];
    }),
  );
}

/** Maximum length, in characters, of a value that is written on one line. */
const maxLineLength = 56;

/** Returns whether the value is or contains a secret, which samples read from the environment. */
export function hasSecret(value: Value): boolean {
  return (
    value instanceof Secret ||
    (typeof value === "object" && value !== null && Object.values(value).some(hasSecret))
  );
}

/**
 * Returns the value as an argument of a shell command, in single quotes. The shell expands no
 * variables there, so the caller must use `hereDocument` for a value that contains a secret.
 */
export function shellArgument(value: Value): string {
  return `'${jsonLiteral(value, JSON.stringify).replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the value as the text of a shell's here-document. The shell expands the environment
 * variables of secrets in it; `$` in all other values is escaped.
 */
export function hereDocument(value: Value): string {
  return jsonLiteral(value, (scalar) => JSON.stringify(scalar).replaceAll(/[\\$`]/g, "\\$&"));
}

function jsonLiteral(value: Value, scalar: (value: unknown) => string): string {
  return literal(value, {
    scalar,
    secret: (variable) => `"$${variable}"`,
    name: (name) => JSON.stringify(name),
    indent: "  ",
    pad: "",
    trailingComma: "",
  });
}

/** Returns the value as a TypeScript expression. */
export function typescriptLiteral(value: Value): string {
  return literal(value, {
    scalar: (scalar) => JSON.stringify(scalar),
    secret: (variable) => `process.env.${variable}`,
    name: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)),
    indent: "  ",
    pad: " ",
    trailingComma: ",",
  });
}

const pythonScalars = new Map<unknown, string>([
  [null, "None"],
  [true, "True"],
  [false, "False"],
]);

/** Returns the value as a Python expression. */
export function pythonLiteral(value: Value): string {
  return literal(value, {
    scalar: (scalar) => pythonScalars.get(scalar) ?? JSON.stringify(scalar),
    secret: (variable) => `os.environ["${variable}"]`,
    name: (name) => JSON.stringify(name),
    indent: "    ",
    pad: "",
    trailingComma: ",",
  });
}

interface Notation {
  readonly scalar: (value: unknown) => string;
  readonly secret: (variable: string) => string;
  /** Writes the name of a field. */
  readonly name: (name: string) => string;
  readonly indent: string;
  /** Text between the braces and the fields of an object on one line. */
  readonly pad: string;
  /** Text after the last item of a value on several lines. */
  readonly trailingComma: string;
}

function literal(value: Value, notation: Notation): string {
  if (value instanceof Secret) return notation.secret(value.variable);
  if (typeof value !== "object" || value === null) return notation.scalar(value);
  const isList = Array.isArray(value);
  const [opening, closing] = isList ? ["[", "]"] : ["{", "}"];
  const items = isList
    ? value.map((item) => literal(item, notation))
    : Object.entries(value).map(
        ([name, item]) => `${notation.name(name)}: ${literal(item, notation)}`,
      );
  if (items.length === 0) return opening + closing;
  const pad = isList ? "" : notation.pad;
  const line = `${opening}${pad}${items.join(", ")}${pad}${closing}`;
  if (line.length <= maxLineLength && !line.includes("\n")) return line;
  const { indent, trailingComma } = notation;
  const lines = items.map((item) => indent + item.replaceAll("\n", `\n${indent}`));
  return `${opening}\n${lines.join(",\n")}${trailingComma}\n${closing}`;
}
