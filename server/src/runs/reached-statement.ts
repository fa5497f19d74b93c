import { insertWorkspaceEvents } from "../events/index.ts";
import { createReachedStatement } from "../reservations/index.ts";

/**
 * Reports limits as reached. It is created here because `reservations/` must not import `events/`.
 */
export const reachedStatement = createReachedStatement(insertWorkspaceEvents);
