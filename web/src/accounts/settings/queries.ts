import { account, listOptions } from "../../data/index.ts";

/** Prefix of the keys of all queries about the person's sessions. */
export const sessionsKey = ["sessions"] as const;

/** The valid sessions of the signed-in person. */
export const sessionsQuery = listOptions([...sessionsKey, "list"], (page, options) =>
  account.sessions.list(page, options),
);
