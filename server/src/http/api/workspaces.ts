import { createWorkspaceBody, pageQuery, updateWorkspaceBody, workspace } from "@beckon/contract";
import { z } from "zod";
import {
  createWorkspace,
  getWorkspace,
  listWorkspaces,
  updateWorkspace,
} from "../../workspaces/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const workspaceOf = (request: ManagedRequest) => ({ workspaceId: request.param("workspace_id") });
const withBody = (request: ManagedRequest) => ({ ...workspaceOf(request), body: request.body });

export const workspaceRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/workspaces",
    permission: "workspaces:read",
    anyWorkspace: true,
    doc: {
      id: "listWorkspaces",
      summary: "List workspaces",
      description: "A session lists all workspaces of the member, a key its own one.",
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
      summary: "Create workspace",
      description:
        "For owners and keys of the workspace `default`. A member who creates a workspace owns it. A key gets a key of its own kind in the new workspace, whose secret only this response shows. It expires when the key that created the workspace expires; before that, create another key. Only keys and members of the new workspace can read it at `Location`.",
      body: createWorkspaceBody,
      data: workspace,
      also: z.object({
        key: z.string().optional(),
        key_id: z.string().optional(),
        key_expires_at: z.iso.datetime().nullable().optional(),
      }),
      created: "/workspaces/:id",
      once: true,
      example: { name: "Support", time_zone: "Europe/Zurich" },
    },
    handle: ({ ctx, body }) => createWorkspace({ ctx, input: { body } }),
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id",
    permission: "workspaces:read",
    doc: { id: "getWorkspace", summary: "Get workspace", data: workspace },
    handle: (request) => dataOf(getWorkspace({ ctx: request.ctx, input: workspaceOf(request) })),
  },
  {
    method: "PATCH",
    path: "/workspaces/:workspace_id",
    permission: "workspaces:write",
    doc: {
      id: "updateWorkspace",
      summary: "Update workspace",
      description:
        "`run_retention_days` says for how many days runs are kept after they ended, with their events and artifacts: at least 7, at most `max_run_retention_days`. null: as long as the operator keeps runs. Older runs are deleted soon after a change.",
      body: updateWorkspaceBody,
      data: workspace,
      example: { name: "Support" },
    },
    handle: (request) => dataOf(updateWorkspace({ ctx: request.ctx, input: withBody(request) })),
  },
];
