import type { z } from "zod";

/**
 * A resource of the OpenAPI document: a kind of object in responses, for example a run. Operations
 * refer to its schema by name (`#/components/schemas/Run`), and `/docs` describes it once.
 */
export interface Resource {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
}
