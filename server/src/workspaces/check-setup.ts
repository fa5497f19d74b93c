import { checkLinkBody, type SetupCheck } from "@beckon/contract";
import type { AccountContext } from "../accounts/index.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { defaultWorkspaceId } from "./ensure-default.ts";
import { invalidSetupMessage } from "./set-up.ts";
import { hasOwner, isSetupHash } from "./setup-store.ts";
import { findWorkspaceRow } from "./store.ts";

/**
 * Returns the name of the workspace that the setup link is for, which is shown before the link is
 * used. The link stays valid. An invalid token counts as a failed attempt, as in `setUp`.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link; `too_many_requests`
 */
export async function checkSetup({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody };
}): Promise<SetupCheck> {
  const { token } = parseBody(checkLinkBody, input.body);
  ctx.failedAttempts.permit();
  const workspace = isCredential("bks_", token)
    ? await inAllWorkspaces(ctx.database.tenant, async (tx) => {
        const isValid =
          (await isSetupHash(tx, hashCredential(token))) &&
          !(await hasOwner(tx, defaultWorkspaceId));
        return isValid ? findWorkspaceRow(tx, defaultWorkspaceId) : undefined;
      })
    : undefined;
  if (workspace === undefined) throw ctx.failedAttempts.count(invalidSetupMessage);
  return { workspace_name: workspace.name };
}
