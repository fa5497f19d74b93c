import type { Plan } from "@beckon/client";
import { readDollars, writeDollars } from "../../format/index.ts";

/** The values of the form for a plan, as texts. An empty amount means unlimited. */
export interface PlanFields {
  readonly name: string;
  readonly tokens: string;
  readonly voiceSeconds: string;
  readonly browserSeconds: string;
  readonly dollars: string;
}

/** The allowances (monthly amounts) of a plan in the fields of the API; null means unlimited. */
export type Allowances = Pick<Plan, "tokens" | "voice_ms" | "browser_ms" | "cost_micros">;

/** Maximum allowance in tokens or milliseconds, as `maxAllowance` of the contract. */
const max = 1e15;

/** Returns the initial values of the form. `plan` is undefined for a new plan. */
export function fieldsOf(plan: Plan | undefined): PlanFields {
  const text = (amount: number | null | undefined, divisor: number) =>
    amount === null || amount === undefined ? "" : String(amount / divisor);
  return {
    name: plan?.name ?? "",
    tokens: text(plan?.tokens, 1),
    voiceSeconds: text(plan?.voice_ms, 1_000),
    browserSeconds: text(plan?.browser_ms, 1_000),
    dollars: plan === undefined || plan.cost_micros === null ? "" : writeDollars(plan.cost_micros),
  };
}

/** The result of reading the form: the allowances, or an error message for each invalid field. */
export type ReadFields =
  | { readonly allowances: Allowances }
  | { readonly errors: Partial<Record<keyof PlanFields, string>> };

/** Parses the values of the form. An empty amount means unlimited. */
export function readFields(fields: PlanFields): ReadFields {
  const errors: Partial<Record<keyof PlanFields, string>> = {};
  const read = (name: "tokens" | "voiceSeconds" | "browserSeconds", decimals: 0 | 3) => {
    const typed = fields[name].trim();
    if (typed === "") return null;
    const amount = Math.round(Number(typed) * 10 ** decimals);
    const pattern = decimals === 0 ? /^\d+$/ : /^\d+(\.\d{1,3})?$/;
    if (pattern.test(typed) && amount <= max) return amount;
    const format = decimals === 0 ? "a whole number" : "a number with at most 3 decimals";
    errors[name] = `Use ${format}, or nothing for unlimited.`;
    return null;
  };
  const dollars = fields.dollars.trim() === "" ? undefined : readDollars(fields.dollars);
  if (dollars?.error !== undefined) errors.dollars = dollars.error;
  if (!/^[a-z0-9][a-z0-9._-]{0,62}$/.test(fields.name))
    errors.name = "Use 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit.";
  const allowances = {
    tokens: read("tokens", 0),
    voice_ms: read("voiceSeconds", 3),
    browser_ms: read("browserSeconds", 3),
    cost_micros: dollars?.micros ?? null,
  };
  return Object.keys(errors).length === 0 ? { allowances } : { errors };
}
