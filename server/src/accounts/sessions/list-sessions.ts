import type { Session } from "@beckon/contract";
import { inAllWorkspaces } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import type { SignedIn } from "../account-context.ts";
import { listSessionRows, type SessionRow } from "../session-store.ts";

/** Returns one page of the person's sessions, newest first. @throws ApiError `bad_request` */
export async function listSessions({
  ctx,
  input,
}: {
  ctx: SignedIn;
  input: { query: unknown };
}): Promise<Page<Session>> {
  const page = readPage(input.query, { list: "sessions", user: ctx.userId });
  const rows = await inAllWorkspaces(ctx.database.tenant, (tx) =>
    listSessionRows(tx, ctx.userId, page),
  );
  return page.page(rows.map((row) => toSession(row, ctx.sessionId)));
}

function toSession(row: SessionRow, current: string): Session {
  return {
    id: row.id,
    current: row.id === current,
    address: row.ip_address || null,
    user_agent: row.user_agent || null,
    created_at: row.created_at.toISOString(),
    last_used_at: row.updated_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
