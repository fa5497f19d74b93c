import { type Allowances, maxAllowance, maxPlans, planName, unlimitedPlan } from "@beckon/contract";
import {
  type FileMistake,
  FileMistakes,
  jsonOf,
  pointerTo,
  readSettingsFile,
  shownValue,
} from "../../base/settings-file/index.ts";

/** The plans in the operator's file, by name. */
export type OperatorPlans = ReadonlyMap<string, Allowances>;

/**
 * Reads the operator's plans.
 * @param path of the file that the setting BECKON_PLANS names; undefined if the setting is not set,
 *   which means that there are no plans.
 * @throws ConfigError if the file cannot be read or is not valid. The message contains the line and
 *   column of every mistake.
 */
export async function readOperatorPlans(path: string | undefined): Promise<OperatorPlans> {
  return path === undefined
    ? new Map()
    : readSettingsFile("BECKON_PLANS", path, parseOperatorPlans);
}

/**
 * The fields of a plan in the file: the field of `Allowances` to which each is converted, and the
 * factor.
 */
const fields = {
  tokens: { to: "tokens", factor: 1, unit: "tokens" },
  voice_seconds: { to: "voice_ms", factor: 1_000, unit: "seconds" },
  browser_seconds: { to: "browser_ms", factor: 1_000, unit: "seconds" },
  cost: { to: "cost_micros", factor: 1_000_000, unit: "dollars" },
} as const satisfies Record<string, { to: keyof Allowances; factor: number; unit: string }>;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses the operator's plans: a JSON object with the field `plans`.
 * @throws FileMistakes if the text is not JSON, or if a field or a value is not allowed.
 */
export function parseOperatorPlans(text: string): OperatorPlans {
  const mistakes: FileMistake[] = [];
  const { value, positions } = jsonOf(text);
  const add = (pointer: string, what: string) =>
    mistakes.push({ ...(positions.get(pointer) ?? { line: 1, column: 1 }), what });
  const objectAt = (at: string, given: unknown, what: string): JsonObject => {
    if (typeof given === "object" && given !== null && !Array.isArray(given))
      return given as JsonObject;
    add(at, `${what} must be a JSON object`);
    return {};
  };
  const checkFields = (at: string, object: JsonObject, known: readonly string[], what: string) => {
    for (const name of Object.keys(object).filter((each) => !known.includes(each)))
      add(
        pointerTo(at, name),
        `${JSON.stringify(name)} is not a field of ${what}. Its fields are ${known.join(", ")}`,
      );
  };
  /** Returns the allowance in Beckon's unit; null if it is unlimited or not valid. */
  const allowanceAt = (at: string, plan: JsonObject, name: keyof typeof fields, what: string) => {
    const given = Object.hasOwn(plan, name) ? plan[name] : null;
    if (given === null) return null;
    const { factor, unit } = fields[name];
    const decimals = Math.log10(factor);
    const isInRange = typeof given === "number" && given >= 0 && given <= maxAllowance / factor;
    const units = isInRange ? Number((given * factor).toPrecision(15)) : Number.NaN;
    if (Number.isInteger(units)) return units;
    const form = decimals === 0 ? "a whole number" : `with at most ${decimals} decimals`;
    add(
      pointerTo(at, name),
      `${name} of ${what} was ${shownValue(given)}. It must be a number of ${unit}, 0 to ${(maxAllowance / factor).toLocaleString("en")}, ${form}, or null for unlimited`,
    );
    return null;
  };

  const file = objectAt("", value, "the file");
  checkFields("", file, ["plans"], "the file");
  const plans = new Map<string, Allowances>();
  const given = objectAt("/plans", Object.hasOwn(file, "plans") ? file.plans : {}, "plans");
  for (const [name, entry] of Object.entries(given)) {
    const at = pointerTo("/plans", name);
    const shown = JSON.stringify(name);
    if (name === unlimitedPlan) add(at, `${shown} is the built-in plan. Choose another name`);
    else if (!planName.safeParse(name).success)
      add(
        at,
        `${shown} is not a name of a plan. It must be 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit`,
      );
    const plan = objectAt(at, entry, shown);
    checkFields(at, plan, Object.keys(fields), shown);
    plans.set(name, {
      tokens: allowanceAt(at, plan, "tokens", shown),
      voice_ms: allowanceAt(at, plan, "voice_seconds", shown),
      browser_ms: allowanceAt(at, plan, "browser_seconds", shown),
      cost_micros: allowanceAt(at, plan, "cost", shown),
    });
  }
  if (plans.size > maxPlans)
    add("/plans", `there are ${plans.size} plans, and at most ${maxPlans} are allowed`);
  if (mistakes.length > 0) throw new FileMistakes(mistakes);
  return plans;
}
