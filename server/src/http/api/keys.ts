import { createKeyBody, key, pageQuery, rotateKeyBody, updateKeyBody } from "@beckon/contract";
import { z } from "zod";
import { createKey, deleteKey, getKey, listKeys, rotateKey, updateKey } from "../../keys/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

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
      summary: "Create key",
      description:
        "Only this response shows the secret, `key`. Send `scopes` or a `preset`. Together with `agent_ids`, a preset grants only those of its scopes that a key limited to agents can have. The key expires after 90 days unless `expires_in_days` says otherwise; null means never. You cannot grant scopes that you do not have. A key that expires cannot create one that expires later; without a given expiry, the new key expires with it if that is before 90 days.",
      body: createKeyBody,
      data: key,
      also: keyShown,
      created: "/keys/:id",
      once: true,
      errors: ["not_found"],
      example: { name: "Shop", preset: "invoke", expires_in_days: 30 },
    },
    handle: ({ ctx, body }) => createKey({ ctx, input: { body } }),
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
    doc: { id: "getKey", summary: "Get key", data: key },
    handle: (request) => dataOf(getKey({ ctx: request.ctx, input: keyOf(request) })),
  },
  {
    method: "PATCH",
    path: "/keys/:key_id",
    permission: "keys:write",
    doc: {
      id: "updateKey",
      summary: "Update key",
      description: "Takes effect with the response.",
      body: updateKeyBody,
      data: key,
      errors: ["conflict"],
      example: { scopes: ["runs:read"], expires_in_days: 30 },
    },
    handle: (request) => dataOf(updateKey({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/keys/:key_id",
    permission: "keys:write",
    doc: {
      id: "deleteKey",
      summary: "Revoke key",
      description: "Takes effect with the response.",
      errors: ["conflict"],
    },
    handle: (request) => deleteKey({ ctx: request.ctx, input: keyOf(request) }),
  },
  {
    method: "POST",
    path: "/keys/:key_id/rotate",
    permission: "keys:write",
    doc: {
      id: "rotateKey",
      summary: "Rotate key",
      description:
        "Issues a new secret. The previous one stays valid for `grace_seconds`: by default 300 if the key rotates itself, so that it can repeat the call with the same `Idempotency-Key` if the response is lost, else 0. Send 0 if the key has leaked. A secret that an earlier rotation replaced stops at once, even in its grace period.",
      body: rotateKeyBody,
      bodyOptional: true,
      data: key,
      also: keyShown,
      once: true,
      example: { grace_seconds: 3600 },
    },
    handle: (request) => rotateKey({ ctx: request.ctx, input: withBody(request) }),
  },
];
