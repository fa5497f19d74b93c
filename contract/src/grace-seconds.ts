import { z } from "zod";

/** Time for which a replaced secret stays valid, in seconds: 0 to a week. */
export const graceSeconds = z.number().int().min(0).max(604_800);
