import {
  createPlanBody,
  pageQuery,
  plan,
  planUsage,
  updatePlanBody,
  updateWorkspacePlanBody,
  workspacePlan,
  workspacePlansQuery,
} from "@beckon/contract";
import {
  createPlan,
  deletePlan,
  getPlan,
  getPlanUsage,
  listPlans,
  listWorkspacePlans,
  updatePlan,
  updateWorkspacePlan,
} from "../../limits/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const planOf = (request: ManagedRequest) => ({ planId: request.param("plan_id") });
const withBody = (request: ManagedRequest) => ({ ...planOf(request), body: request.body });

export const planRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/plan",
    permission: "usage:read",
    doc: {
      id: "getPlanUsage",
      summary: "Get plan of the workspace",
      description:
        "The workspace's plan, and for each metric what it allows in the present month, what was used and what is reserved for calls that are made now. Not for keys that are limited to agents.",
      data: planUsage,
    },
    handle: ({ ctx }) => dataOf(getPlanUsage({ ctx })),
  },
  {
    method: "GET",
    path: "/plans",
    permission: "plans:write",
    doc: {
      id: "listPlans",
      summary: "List plans",
      description:
        "In the order of their names: the built-in plan `unlimited`, those of the operator's file and those that were created here. Only in the workspace `default`.",
      query: pageQuery,
      data: plan,
      list: true,
    },
    handle: ({ ctx, query }) => listPlans({ ctx, input: { query } }),
  },
  {
    method: "POST",
    path: "/plans",
    permission: "plans:write",
    doc: {
      id: "createPlan",
      summary: "Create plan",
      description:
        "An allowance that is absent or null is unlimited. Only in the workspace `default`.",
      body: createPlanBody,
      data: plan,
      created: "/plans/:id",
      once: true,
      example: { name: "team", tokens: 50_000_000, cost_micros: 100_000_000 },
    },
    handle: ({ ctx, body }) => createPlan({ ctx, input: { body } }),
  },
  {
    method: "GET",
    path: "/plans/:plan_id",
    permission: "plans:write",
    doc: { id: "getPlan", summary: "Get plan", data: plan },
    handle: (request) => dataOf(getPlan({ ctx: request.ctx, input: planOf(request) })),
  },
  {
    method: "PATCH",
    path: "/plans/:plan_id",
    permission: "plans:write",
    doc: {
      id: "updatePlan",
      summary: "Update plan",
      description: "Applies at once to all workspaces that are on the plan.",
      body: updatePlanBody,
      data: plan,
      example: { tokens: 100_000_000 },
    },
    handle: (request) => dataOf(updatePlan({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/plans/:plan_id",
    permission: "plans:write",
    doc: {
      id: "deletePlan",
      summary: "Delete plan",
      description: "Only if no workspace is on the plan or changes to it.",
      errors: ["conflict"],
    },
    handle: (request) => deletePlan({ ctx: request.ctx, input: planOf(request) }),
  },
  {
    method: "GET",
    path: "/workspace-plans",
    permission: "plans:write",
    doc: {
      id: "listWorkspacePlans",
      summary: "List plans of workspaces",
      description:
        "All workspaces with their plans, newest first. Only in the workspace `default`.",
      query: workspacePlansQuery,
      data: workspacePlan,
      list: true,
    },
    handle: ({ ctx, query }) => listWorkspacePlans({ ctx, input: { query } }),
  },
  {
    method: "PATCH",
    path: "/workspace-plans/:target_workspace_id",
    permission: "plans:write",
    doc: {
      id: "updateWorkspacePlan",
      summary: "Set plan of a workspace",
      description:
        "At once, or with `takes_effect: period_end` when the month of the present plan ends. What was used since the start of the month counts. A plan that takes effect at once cancels a planned change. Only in the workspace `default`.",
      body: updateWorkspacePlanBody,
      data: workspacePlan,
      example: { plan: "unlimited", takes_effect: "period_end" },
    },
    handle: (request) =>
      dataOf(
        updateWorkspacePlan({
          ctx: request.ctx,
          input: { targetId: request.param("target_workspace_id"), body: request.body },
        }),
      ),
  },
];
