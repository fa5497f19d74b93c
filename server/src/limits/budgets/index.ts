export {
  addBudgets,
  type BudgetKey,
  type BudgetToPut,
  correctFuturePeriods,
  deleteBudgets,
  findFuturePeriods,
  lockBudgets,
  type NewBudget,
  putBudgets,
  startDuePeriods,
} from "./budget-store.ts";
export { countSpent } from "./count-spent.ts";
