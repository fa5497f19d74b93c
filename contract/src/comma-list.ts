import { z } from "zod";

/** Some of `values`, with commas between them. */
export const commaList = <T extends z.ZodEnum<Readonly<Record<string, string>>>>(values: T) =>
  z
    .string()
    .max(1_000)
    .transform((text) => text.split(","))
    .pipe(z.array(values))
    .optional()
    .meta({ description: `One or several, with commas between them: ${values.options.join(", ")}.` });
