import { parseDocument } from "yaml";
import { UsageError } from "../terminal.ts";

/**
 * An agent in an exported file. Only the fields that `beckon agents apply` itself reads have types.
 * The server checks all fields.
 */
export interface AgentInFile {
  readonly name: string;
  readonly paused?: boolean;
  readonly pause_reason?: string | null;
  readonly triggers?: readonly TriggerInFile[];
  readonly [field: string]: unknown;
}

export interface TriggerInFile {
  readonly name: string;
  readonly [field: string]: unknown;
}

/**
 * Reads the agents of an exported file in YAML 1.2. JSON files are read too, because JSON is a
 * subset of YAML 1.2.
 * @throws UsageError if the file is not valid, or if two agents, or two triggers of an agent, have
 *   the same name
 */
export function readDocument(text: string): readonly AgentInFile[] {
  const value = parse(text);
  if (!isObject(value) || value.beckon !== 1 || !Array.isArray(value.agents)) {
    throw new UsageError(
      "The file must have the fields `beckon: 1` and `agents`, as `beckon agents export` writes it.",
    );
  }
  const agents: readonly unknown[] = value.agents;
  const checked = agents.map((agent, index) => {
    if (!isNamed(agent))
      throw new UsageError(`Agent ${index + 1} of the file must be an object with a name.`);
    const { triggers = [], paused = false, pause_reason: reason = null } = agent;
    if (typeof paused !== "boolean" || (reason !== null && typeof reason !== "string")) {
      throw new UsageError(
        `The agent ${JSON.stringify(agent.name)} must have true or false as \`paused\`, and a ` +
          "text or null as `pause_reason`.",
      );
    }
    if (!Array.isArray(triggers) || !triggers.every(isNamed)) {
      throw new UsageError(
        `The triggers of ${JSON.stringify(agent.name)} must be a list of objects with a name.`,
      );
    }
    const repeated = repeatedName(triggers);
    if (repeated !== undefined) {
      throw new UsageError(
        `Two triggers of ${JSON.stringify(agent.name)} have the name ${JSON.stringify(repeated)}. ` +
          "Names must differ, because they say which trigger is changed.",
      );
    }
    return agent as AgentInFile;
  });
  const repeated = repeatedName(checked);
  if (repeated !== undefined) {
    throw new UsageError(
      `Two agents of the file have the name ${JSON.stringify(repeated)}. Names must differ, ` +
        "because they say which agent is changed.",
    );
  }
  return checked;
}

/** Returns the first name that occurs twice; undefined if there is none. */
function repeatedName(items: readonly Named[]): string | undefined {
  const names = new Set<string>();
  for (const { name } of items) {
    if (names.has(name)) return name;
    names.add(name);
  }
  return undefined;
}

/**
 * Parses YAML and returns only values that JSON has, as the server does: the agents are sent as
 * JSON, in which `.nan` would become null.
 */
function parse(text: string): unknown {
  try {
    const value = parseYaml(text);
    // Finds numbers that JSON does not have, aliases inside themselves, and too many levels.
    JSON.stringify(value, requireFinite);
    return value;
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    if (thrown instanceof ReferenceError)
      throw new UsageError("The file has too many aliases (*…). Write the values instead.");
    if (thrown instanceof RangeError) {
      throw new UsageError(
        "The file is nested too deeply, or too large with the values of its aliases (*…). Write " +
          "fewer levels, or fewer aliases.",
      );
    }
    throw new UsageError("The file has an alias (*…) inside itself. Write the values instead.");
  }
}

function requireFinite(_name: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new UsageError(
    "The file has a number that JSON does not have: .nan or .inf. Write another value.",
  );
}

function parseYaml(text: string): unknown {
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    resolveKnownTags: false,
    stringKeys: true,
    logLevel: "error",
  });
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined) {
    if (first.code === "RESOURCE_EXHAUSTION") throw new RangeError(first.message);
    const line = first.linePos?.[0].line;
    throw new UsageError(
      `The file is not valid YAML or JSON${line === undefined ? "" : `: see line ${line}`}.`,
    );
  }
  return document.toJS({ maxAliasCount: 100 });
}

interface Named {
  readonly name: string;
  readonly [field: string]: unknown;
}

function isNamed(value: unknown): value is Named {
  return isObject(value) && typeof value.name === "string" && value.name !== "";
}

/** Returns whether the value is an object and not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
