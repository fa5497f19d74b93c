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
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";

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
      summary: "List an agent's versions",
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
    doc: { id: "getAgentVersion", summary: "Read a version", data: agentVersion },
    handle: async (request) => ({
      data: await getVersion({ ctx: request.ctx, input: versionOf(request) }),
    }),
  },
  {
    method: "GET",
    path: `${one}/compare`,
    permission: "agents:read",
    doc: {
      id: "compareAgentVersions",
      summary: "Show what has changed since a version",
      description:
        "Up to the version `with`, by default the current one. Lists are compared by position.",
      query: compareQuery,
      data: versionComparison,
    },
    handle: async (request) => ({
      data: await compareVersions({
        ctx: request.ctx,
        input: { ...versionOf(request), query: request.query },
      }),
    }),
  },
  {
    method: "POST",
    path: `${one}/restore`,
    permission: "agents:write",
    doc: {
      id: "restoreAgentVersion",
      summary: "Go back to a version",
      description:
        "Writes the agent's next version, equal to this one. Refused when its provider, or a secret of its tools, is gone by now. Secrets that only the current version uses are deleted.",
      body: emptyBody,
      bodyOptional: true,
      data: agent,
      once: true,
      ifMatch: true,
    },
    handle: async (request) => {
      const { data, replayed } = await restoreVersion({
        ctx: request.ctx,
        input: { ...versionOf(request), body: request.body },
      });
      return { data, replayed, etag: String(data.version) };
    },
  },
];
