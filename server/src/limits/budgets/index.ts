export {
  type BudgetKey,
  type BudgetToPut,
  deleteBudgets,
  lockBudgets,
  putBudgets,
} from "./budget-store.ts";
export { countSpent } from "./count-spent.ts";
