import { auditEntry, auditExportQuery, auditQuery } from "@beckon/contract";
import { exportAudit, listAudit } from "../../base/audit/index.ts";
import type { ManagedRoute } from "../management/index.ts";

export const auditRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/audit",
    permission: "audit:read",
    doc: {
      id: "listAudit",
      summary: "List audit log",
      description:
        "Every change and every reveal of a secret, newest first. With several of the filters `actor`, `action` and `target`, each page searches a limited number of entries: it can hold fewer than `limit`, even none, and still have a `next`.",
      query: auditQuery,
      data: auditEntry,
      list: true,
    },
    handle: ({ ctx, query }) => listAudit({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/audit/export",
    permission: "audit:read",
    doc: {
      id: "exportAudit",
      summary: "Export audit log",
      description: "One entry per line as JSON Lines, newest first.",
      query: auditExportQuery,
      data: auditEntry,
      lines: true,
    },
    handle: async ({ ctx, query }) => ({ lines: await exportAudit({ ctx, input: { query } }) }),
  },
];
