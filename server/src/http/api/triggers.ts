import {
  createTriggerBody,
  pageQuery,
  rotateBody,
  trigger,
  updateTriggerBody,
} from "@beckon/contract";
import { z } from "zod";
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
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";

const list = "/agents/:agent_id/triggers";
const one = `${list}/:trigger_id`;

const agentOf = (request: ManagedRequest) => ({ agentId: request.param("agent_id") });
const triggerOf = (request: ManagedRequest) => ({
  ...agentOf(request),
  triggerId: request.param("trigger_id"),
});

/** The address that fires the trigger: whoever has it can, so it is shown only where the token is. */
const withUrl = (request: ManagedRequest, trigger: TriggerWithToken) => ({
  ...trigger,
  url: `${request.publicUrl}/api/public/triggers/${trigger.token}`,
});

const urlShown = z.object({ token: z.string(), url: z.string() });

export const triggerRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: list,
    permission: "triggers:write",
    doc: {
      id: "createTrigger",
      summary: "Add a trigger",
      description: "Whoever has the url in the answer can fire it; it can be revealed again.",
      body: createTriggerBody,
      data: trigger,
      also: urlShown,
      created: true,
      once: true,
      example: { name: "Payments", prompt_prefix: "A payment came in:" },
    },
    handle: async (request) => {
      const { data, replayed } = await createTrigger({
        ctx: request.ctx,
        input: { ...agentOf(request), body: request.body },
      });
      const location = `/api/public/agents/${data.agent_id}/triggers/${data.id}`;
      return { data: withUrl(request, data), replayed, secret: true, location };
    },
  },
  {
    method: "GET",
    path: list,
    permission: "triggers:read",
    doc: {
      id: "listTriggers",
      summary: "List an agent's triggers",
      query: pageQuery,
      data: trigger,
      list: true,
    },
    handle: (request) =>
      listTriggers({ ctx: request.ctx, input: { ...agentOf(request), query: request.query } }),
  },
  {
    method: "GET",
    path: one,
    permission: "triggers:read",
    doc: { id: "getTrigger", summary: "Read a trigger", data: trigger },
    handle: async (request) => ({
      data: await getTrigger({ ctx: request.ctx, input: triggerOf(request) }),
    }),
  },
  {
    method: "PATCH",
    path: one,
    permission: "triggers:write",
    doc: {
      id: "updateTrigger",
      summary: "Change, enable or disable a trigger",
      body: updateTriggerBody,
      data: trigger,
      example: { enabled: false },
    },
    handle: async (request) => ({
      data: await updateTrigger({
        ctx: request.ctx,
        input: { ...triggerOf(request), body: request.body },
      }),
    }),
  },
  {
    method: "DELETE",
    path: one,
    permission: "triggers:write",
    doc: {
      id: "deleteTrigger",
      summary: "Delete a trigger",
      description: "Its URL stops at once; runs it has started go on.",
    },
    handle: async (request) => {
      await deleteTrigger({ ctx: request.ctx, input: triggerOf(request) });
      return {};
    },
  },
  {
    method: "POST",
    path: `${one}/rotate`,
    permission: "triggers:write",
    doc: {
      id: "rotateTrigger",
      summary: "Give a trigger a new URL",
      description: "The one before works for grace_seconds more, by default not at all.",
      body: rotateBody,
      bodyOptional: true,
      data: trigger,
      also: urlShown,
      once: true,
      example: { grace_seconds: 3600 },
    },
    handle: async (request) => {
      const { data, replayed } = await rotateTrigger({
        ctx: request.ctx,
        input: { ...triggerOf(request), body: request.body },
      });
      return { data: withUrl(request, data), replayed, secret: true };
    },
  },
  {
    method: "GET",
    path: `${one}/token`,
    permission: "triggers:write",
    doc: {
      id: "revealTrigger",
      summary: "Show a trigger's URL",
      description: "The reveal is on record.",
      data: trigger,
      also: urlShown,
      errors: ["secret_unreadable"],
    },
    handle: async (request) => ({
      data: withUrl(request, await revealTrigger({ ctx: request.ctx, input: triggerOf(request) })),
      secret: true,
    }),
  },
];
