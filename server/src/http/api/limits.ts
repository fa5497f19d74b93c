import { ceiling, ceilingsQuery, setCeilingBody } from "@beckon/contract";
import { deleteCeiling, getCeiling, listCeilings, setCeiling } from "../../limits/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const scopeOf = (request: ManagedRequest) => ({
  scope: request.param("scope"),
  scopeId: request.param("scope_id"),
});
const withBody = (request: ManagedRequest) => ({ ...scopeOf(request), body: request.body });

export const limitRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/limits",
    permission: "usage:read",
    doc: {
      id: "listLimits",
      summary: "List ceilings",
      description:
        "The daily ceilings: that of the workspace, then those of its agents, keys and triggers. A key that is limited to agents gets those of these agents, of their triggers and of itself.",
      query: ceilingsQuery,
      data: ceiling,
      list: true,
    },
    handle: ({ ctx, query }) => listCeilings({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/limits/:scope/:scope_id",
    permission: "usage:read",
    doc: { id: "getLimit", summary: "Get ceiling", data: ceiling },
    handle: (request) => dataOf(getCeiling({ ctx: request.ctx, input: scopeOf(request) })),
  },
  {
    method: "PUT",
    path: "/limits/:scope/:scope_id",
    permission: "limits:write",
    doc: {
      id: "setLimit",
      summary: "Set ceiling",
      description:
        "Sets how much the runs of the workspace, or of an agent, a key or a trigger, can cost per day. The day is a date in the workspace's time zone; what was spent since its start counts. A higher ceiling lets waiting runs continue at once, a lower one applies to the next model call. Ceilings do not belong to the agent's versions.",
      body: setCeilingBody,
      data: ceiling,
      example: { limit_micros: 5_000_000 },
    },
    handle: (request) => dataOf(setCeiling({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/limits/:scope/:scope_id",
    permission: "limits:write",
    doc: {
      id: "deleteLimit",
      summary: "Delete ceiling",
      description: "Waiting runs continue at once.",
    },
    handle: (request) => deleteCeiling({ ctx: request.ctx, input: scopeOf(request) }),
  },
];
