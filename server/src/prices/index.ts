export { createPrice } from "./create.ts";
export { deletePrice } from "./delete.ts";
export { getPrice } from "./get.ts";
export { listPrices } from "./list.ts";
export { operatorAddress, type PriceServices } from "./model-price.ts";
export { readOperatorPrices } from "./operator-file.ts";
export { readOwnPricing } from "./own-pricing-store.ts";
export { PriceTable } from "./price-table.ts";
export { updatePrice } from "./update.ts";
