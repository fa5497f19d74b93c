import { z } from "zod";

/** An environment variable. */
export interface Setting {
  readonly schema: z.ZodType<unknown, string | undefined>;
  /** The valid values, as a phrase that follows "it must be" in messages. */
  readonly validValues: string;
  /**
   * The effect of the setting, in one or more sentences of Markdown, for `--help` and
   * `docs/settings.md`.
   */
  readonly help: string;
  /** The effect of an unset value, if the schema has no fixed default. */
  readonly unset?: string;
}

/** Schema of a whole number from `min` to `max`; `fallback` if the variable is not set. */
export const whole = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(fallback);
