import { createKeyBody, key, pageQuery, rotateBody, updateKeyBody } from "@beckon/contract";
import { z } from "zod";
import { createKey, deleteKey, getKey, listKeys, rotateKey, updateKey } from "../../keys/index.ts";
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";

const keyOf = (request: ManagedRequest) => ({ keyId: request.param("key_id") });
const withBody = (request: ManagedRequest) => ({ ...keyOf(request), body: request.body });

const keyShown = z.object({ key: z.string() });

export const keyRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/keys",
    permission: "keys:write",
    doc: {
      id: "createKey",
      summary: "Add a key",
      description:
        "The secret, key, is shown in this answer only. Give scopes or a preset; without an expiry it lives 90 days, null is for ever. No key can give more than it has.",
      body: createKeyBody,
      data: key,
      also: keyShown,
      created: true,
      once: true,
      errors: ["not_found"],
      example: { name: "Shop", preset: "invoke", expires_in_days: 30 },
    },
    handle: async ({ ctx, body }) => {
      const { data, replayed } = await createKey({ ctx, input: { body } });
      return { data, replayed, secret: true, location: `/api/public/keys/${data.id}` };
    },
  },
  {
    method: "GET",
    path: "/keys",
    permission: "keys:read",
    doc: { id: "listKeys", summary: "List keys", query: pageQuery, data: key, list: true },
    handle: ({ ctx, query }) => listKeys({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/keys/:key_id",
    permission: "keys:read",
    doc: { id: "getKey", summary: "Read a key", data: key },
    handle: async (request) => ({
      data: await getKey({ ctx: request.ctx, input: keyOf(request) }),
    }),
  },
  {
    method: "PATCH",
    path: "/keys/:key_id",
    permission: "keys:write",
    doc: {
      id: "updateKey",
      summary: "Change a key",
      description: "Holds for every request sent after the answer.",
      body: updateKeyBody,
      data: key,
      errors: ["conflict"],
      example: { scopes: ["runs:read"], expires_in_days: 30 },
    },
    handle: async (request) => ({
      data: await updateKey({ ctx: request.ctx, input: withBody(request) }),
    }),
  },
  {
    method: "DELETE",
    path: "/keys/:key_id",
    permission: "keys:write",
    doc: {
      id: "deleteKey",
      summary: "Revoke a key",
      description: "Every request sent after the answer is refused.",
      errors: ["conflict"],
    },
    handle: async (request) => {
      await deleteKey({ ctx: request.ctx, input: keyOf(request) });
      return {};
    },
  },
  {
    method: "POST",
    path: "/keys/:key_id/rotate",
    permission: "keys:write",
    doc: {
      id: "rotateKey",
      summary: "Give a key a new secret",
      description: "The one before works for grace_seconds more, by default not at all.",
      body: rotateBody,
      bodyOptional: true,
      data: key,
      also: keyShown,
      once: true,
      example: { grace_seconds: 3600 },
    },
    handle: async (request) => ({
      ...(await rotateKey({ ctx: request.ctx, input: withBody(request) })),
      secret: true,
    }),
  },
];
