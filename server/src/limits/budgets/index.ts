export {
  addBudgets,
  type BudgetKey,
  type BudgetToPut,
  deleteBudgets,
  lockBudgets,
  type NewBudget,
  putBudgets,
  startDuePeriods,
} from "./budget-store.ts";
export { countSpent } from "./count-spent.ts";
