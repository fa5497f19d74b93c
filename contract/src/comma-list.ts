import { z } from "zod";

/** Some of `values`, with commas between them. `reserved`: those of them that nothing has yet. */
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
      description: `One or several, with commas between them: ${values.options.join(", ")}.${
        reserved.length === 0 ? "" : ` Reserved, not produced yet: ${reserved.join(", ")}.`
      }`,
    });
