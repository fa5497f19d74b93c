export {
  type BudgetKey,
  type BudgetToPut,
  deleteBudgets,
  lockBudgets,
  putBudgets,
  startDuePeriods,
} from "./budget-store.ts";
export { countSpent } from "./count-spent.ts";
