import { type ReceivedRequest, receivedRequestsQuery } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import { parseQuery } from "../../base/parse.ts";
import { canReadRuns } from "../../runs/index.ts";
import { requireTrigger, type TriggerInput } from "../trigger.ts";
import { toRequest } from "./request.ts";
import { listRequestRows, requestsOf } from "./store.ts";

/**
 * Returns one page of the requests that a trigger received, newest first, without their contents.
 * With both filters, a page searches a limited number of requests: it can have fewer than `limit`,
 * or none, although there are more. The page is empty for a trigger without settings, because only
 * the runs of its requests are stored. `error` of a mapping error can contain values of the
 * payload, so it is null for a caller without `runs:read`.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function listRequests({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput & { query: unknown };
}): Promise<Page<ReceivedRequest>> {
  permit(ctx, "triggers:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const trigger = await requireTrigger(tx, ctx, input);
    const { limit, after, ...filter } = parseQuery(receivedRequestsQuery, input.query);
    const page = readPage({ limit, after }, { list: "requests", trigger: trigger.id, ...filter });
    const { rows, searchedTo } = await listRequestRows(tx, requestsOf(trigger), filter, {
      below: page.below,
      limit: page.limit + 1,
    });
    const isVisible = canReadRuns(ctx);
    return page.page(
      rows.map((row) =>
        toRequest(isVisible || row.outcome !== "mapping_error" ? row : { ...row, error: null }),
      ),
      searchedTo,
    );
  });
}
