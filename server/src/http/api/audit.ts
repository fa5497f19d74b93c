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
      summary: "List changes and reveals",
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
      summary: "Export changes and reveals as JSON Lines",
      query: auditExportQuery,
      data: auditEntry,
      lines: true,
    },
    handle: async ({ ctx, query }) => ({ lines: await exportAudit({ ctx, input: { query } }) }),
  },
];
