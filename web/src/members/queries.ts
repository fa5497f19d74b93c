import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, listOptions } from "../data/index.ts";

/** Prefix of the keys of all queries about members, to refetch them with `announceChanges`. */
export const membersKey = (workspaceId: string) => [workspaceId, "members"] as const;

/** Prefix of the keys of all queries about open invitations. */
export const invitationsKey = (workspaceId: string) => [workspaceId, "invitations"] as const;

/** The members of the workspace. */
export const membersQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...membersKey(id), "list"], (page, options) => client.members.list(page, options));

/** Invitations that were not accepted. */
export const invitationsQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...invitationsKey(id), "list"], (page, options) =>
    client.invitations.list(page, options),
  );

/** Names of the members, by user id. */
export const memberNamesQuery = ({ id, client, can }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [...membersKey(id), "names"],
    queryFn: async ({ signal }) => {
      const names = new Map<string, string>();
      for await (const { id: userId, name } of client.members.list({ limit: 200 }, { signal }))
        names.set(userId, name);
      return names;
    },
    enabled: can("members:read"),
  });
