import {
  createTrigger,
  deleteTrigger,
  getTrigger,
  listTriggers,
  revealTrigger,
  rotateTrigger,
  type TriggerWithToken,
  updateTrigger,
} from "../../triggers/index.ts";
import type { ManagedRequest, ManagedRoute } from "../managed-route.ts";

const list = "/agents/:agent_id/triggers";
const one = `${list}/:trigger_id`;

const agentOf = (request: ManagedRequest) => ({ agentId: request.param("agent_id") });
const triggerOf = (request: ManagedRequest) => ({ ...agentOf(request), triggerId: request.param("trigger_id") });

/** The address that fires the trigger: whoever has it can, so it is shown only where the token is. */
const withUrl = (request: ManagedRequest, trigger: TriggerWithToken) => ({
  ...trigger,
  url: `${request.publicUrl}/api/public/triggers/${trigger.token}`,
});

export const triggerRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: list,
    permission: "triggers:write",
    handle: async (request) => {
      const { data, replayed } = await createTrigger({ ctx: request.ctx, input: { ...agentOf(request), body: request.body } });
      const location = `/api/public/agents/${data.agent_id}/triggers/${data.id}`;
      return { data: withUrl(request, data), replayed, secret: true, location };
    },
  },
  {
    method: "GET",
    path: list,
    permission: "triggers:read",
    handle: (request) => listTriggers({ ctx: request.ctx, input: { ...agentOf(request), query: request.query } }),
  },
  {
    method: "GET",
    path: one,
    permission: "triggers:read",
    handle: async (request) => ({ data: await getTrigger({ ctx: request.ctx, input: triggerOf(request) }) }),
  },
  {
    method: "PATCH",
    path: one,
    permission: "triggers:write",
    handle: async (request) => ({ data: await updateTrigger({ ctx: request.ctx, input: { ...triggerOf(request), body: request.body } }) }),
  },
  {
    method: "DELETE",
    path: one,
    permission: "triggers:write",
    handle: async (request) => {
      await deleteTrigger({ ctx: request.ctx, input: triggerOf(request) });
      return {};
    },
  },
  {
    method: "POST",
    path: `${one}/rotate`,
    permission: "triggers:write",
    handle: async (request) => {
      const { data, replayed } = await rotateTrigger({ ctx: request.ctx, input: { ...triggerOf(request), body: request.body } });
      return { data: withUrl(request, data), replayed, secret: true };
    },
  },
  {
    method: "GET",
    path: `${one}/token`,
    permission: "triggers:write",
    handle: async (request) => ({
      data: withUrl(request, await revealTrigger({ ctx: request.ctx, input: triggerOf(request) })),
      secret: true,
    }),
  },
];
