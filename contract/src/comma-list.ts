import { z } from "zod";

/**
 * Returns the schema of a comma-separated list of `values`.
 * @param reserved values that the server does not produce yet; the schema's description names them.
 */
export const commaList = <T extends z.ZodEnum<Readonly<Record<string, string>>>>(
  values: T,
  reserved: readonly string[] = [],
) =>
  z
    .string()
    .max(1_000)
    .transform((text) => text.split(","))
    .pipe(z.array(values))
    .optional()
    .meta({
      description: `Comma-separated list of: ${values.options.join(", ")}.${
        reserved.length === 0 ? "" : ` Reserved, not produced yet: ${reserved.join(", ")}.`
      }`,
    });
