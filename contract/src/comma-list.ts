import { z } from "zod";

/** Returns the schema of an optional query parameter: a comma-separated list of `values`. */
export const commaList = <T extends z.ZodEnum<Readonly<Record<string, string>>>>(values: T) =>
  z
    .string()
    .max(1_000)
    .transform((text) => text.split(","))
    .pipe(z.array(values))
    .optional()
    .meta({
      description: `Comma-separated list of: ${values.options.join(", ")}.`,
    });
