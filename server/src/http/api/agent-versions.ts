import {
  agent,
  agentVersion,
  agentVersionEntry,
  compareQuery,
  emptyBody,
  pageQuery,
  versionComparison,
} from "@beckon/contract";
import { compareVersions, getVersion, listVersions, restoreVersion } from "../../agents/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const list = "/agents/:agent_id/versions";
const one = `${list}/:version`;

const versionOf = (request: ManagedRequest) => ({
  agentId: request.param("agent_id"),
  version: request.param("version"),
});

export const agentVersionRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: list,
    permission: "agents:read",
    doc: {
      id: "listAgentVersions",
      summary: "List agent versions",
      query: pageQuery,
      data: agentVersionEntry,
      list: true,
    },
    handle: ({ ctx, param, query }) =>
      listVersions({ ctx, input: { agentId: param("agent_id"), query } }),
  },
  {
    method: "GET",
    path: one,
    permission: "agents:read",
    doc: { id: "getAgentVersion", summary: "Get agent version", data: agentVersion },
    handle: (request) => dataOf(getVersion({ ctx: request.ctx, input: versionOf(request) })),
  },
  {
    method: "GET",
    path: `${one}/compare`,
    permission: "agents:read",
    doc: {
      id: "compareAgentVersions",
      summary: "Compare agent versions",
      description:
        "Lists what changed from this version to the version `with`, by default the current one. `/provider_id` differs if the versions use different providers, even with the same model. Arrays are compared by position, but tools and their functions by name, unless their order has changed. `path` has their indexes in the later list, and for one that was removed its index in the earlier list.",
      query: compareQuery,
      data: versionComparison,
    },
    handle: (request) =>
      dataOf(
        compareVersions({
          ctx: request.ctx,
          input: { ...versionOf(request), query: request.query },
        }),
      ),
  },
  {
    method: "POST",
    path: `${one}/restore`,
    permission: "agents:write",
    doc: {
      id: "restoreAgentVersion",
      summary: "Restore agent version",
      description:
        "Creates the agent's next version, equal to this one. Fails if its provider or a secret of its tools was deleted, or if it used the operator's provider and the workspace now has its own of that name. Secrets to which this version does not refer are deleted.",
      body: emptyBody,
      bodyOptional: true,
      data: agent,
      once: true,
      ifMatch: true,
      etag: true,
    },
    handle: (request) =>
      restoreVersion({
        ctx: request.ctx,
        input: { ...versionOf(request), body: request.body },
      }),
  },
];
