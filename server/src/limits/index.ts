export { startDuePeriods } from "./budgets/index.ts";
export { deleteCeiling, getCeiling, listCeilings, setCeiling } from "./ceilings/index.ts";
export { correctPeriods } from "./correct-periods.ts";
export {
  applyNextPlans,
  createPlan,
  deletePlan,
  getPlan,
  getPlanUsage,
  listPlans,
  listWorkspacePlans,
  readOperatorPlans,
  reconcilePlans,
  rejectSamePlanNames,
  updatePlan,
  updateWorkspacePlan,
} from "./plans/index.ts";
export type { LimitServices } from "./services.ts";
