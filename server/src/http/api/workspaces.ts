import { createWorkspaceBody, pageQuery, updateWorkspaceBody, workspace } from "@beckon/contract";
import { z } from "zod";
import {
  createWorkspace,
  getWorkspace,
  listWorkspaces,
  updateWorkspace,
} from "../../workspaces/index.ts";
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";

const workspaceOf = (request: ManagedRequest) => ({ workspaceId: request.param("workspace_id") });

export const workspaceRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/workspaces",
    permission: "workspaces:read",
    anyWorkspace: true,
    doc: {
      id: "listWorkspaces",
      summary: "List one's workspaces",
      description: "For a session all those of the member, for a key its own one.",
      query: pageQuery,
      data: workspace,
      list: true,
    },
    handle: ({ ctx, query }) => listWorkspaces({ ctx, input: { query } }),
  },
  {
    method: "POST",
    path: "/workspaces",
    permission: "workspaces:own",
    doc: {
      id: "createWorkspace",
      summary: "Add a workspace",
      description:
        "Done by owners and keys of the workspace default. A member who adds one owns it. A key is answered with a key like itself in the new workspace, shown in this answer only.",
      body: createWorkspaceBody,
      data: workspace,
      also: z.object({ key: z.string().optional() }),
      created: true,
      once: true,
      example: { name: "Support", time_zone: "Europe/Zurich" },
    },
    handle: async ({ ctx, body }) => {
      const { data, replayed } = await createWorkspace({ ctx, input: { body } });
      return { data, replayed, secret: true, location: `/api/public/workspaces/${data.id}` };
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id",
    permission: "workspaces:read",
    doc: { id: "getWorkspace", summary: "Read a workspace", data: workspace },
    handle: async (request) => ({
      data: await getWorkspace({ ctx: request.ctx, input: workspaceOf(request) }),
    }),
  },
  {
    method: "PATCH",
    path: "/workspaces/:workspace_id",
    permission: "workspaces:write",
    doc: {
      id: "updateWorkspace",
      summary: "Change a workspace",
      body: updateWorkspaceBody,
      data: workspace,
      example: { name: "Support" },
    },
    handle: async (request) => ({
      data: await updateWorkspace({
        ctx: request.ctx,
        input: { ...workspaceOf(request), body: request.body },
      }),
    }),
  },
];
