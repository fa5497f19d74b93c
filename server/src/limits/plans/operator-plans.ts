import { type Allowances, maxAllowance, maxPlans, planName, unlimitedPlan } from "@beckon/contract";
import {
  type AmountFormat,
  pointerTo,
  readSettingsFile,
  SettingsReader,
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

const allowance = (unit: string, decimals: number): AmountFormat => ({
  unit,
  max: maxAllowance / 10 ** decimals,
  decimals,
  alternative: "null for unlimited",
});

/**
 * The fields of a plan in the file. Seconds have at most 3 decimals and dollars at most 6, because
 * `Allowances` contains whole milliseconds and whole micro-dollars.
 */
const fields = {
  tokens: allowance("tokens", 0),
  voice_seconds: allowance("seconds", 3),
  browser_seconds: allowance("seconds", 3),
  cost: allowance("dollars", 6),
};

/**
 * Parses the operator's plans: a JSON object with the field `plans`.
 * @throws FileMistakes if the text is not JSON, or if a field or a value is not allowed.
 */
export function parseOperatorPlans(text: string): OperatorPlans {
  const reader = new SettingsReader(text, ["plans"]);
  const { plans: given = {} } = reader.file;
  const plans = new Map<string, Allowances>();
  for (const [name, entry] of Object.entries(reader.objectAt("/plans", given, "plans"))) {
    const at = pointerTo("/plans", name);
    const shown = JSON.stringify(name);
    if (name === unlimitedPlan)
      reader.add(at, `${shown} is the built-in plan. Choose another name`);
    else if (!planName.safeParse(name).success)
      reader.add(
        at,
        `${shown} is not a name of a plan. It must be 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit`,
      );
    const plan = reader.objectAt(at, entry, shown, Object.keys(fields));
    /** Returns the allowance in the unit of `Allowances`; null if it is unlimited or not valid. */
    const read = (field: keyof typeof fields) => {
      const amount = plan[field] ?? undefined;
      const what = `${field} of ${shown}`;
      return reader.amountAt(pointerTo(at, field), amount, what, fields[field]) ?? null;
    };
    plans.set(name, {
      tokens: read("tokens"),
      voice_ms: read("voice_seconds"),
      browser_ms: read("browser_seconds"),
      cost_micros: read("cost"),
    });
  }
  if (plans.size > maxPlans)
    reader.add("/plans", `there are ${plans.size} plans, and at most ${maxPlans} are allowed`);
  reader.throwMistakes();
  return plans;
}
