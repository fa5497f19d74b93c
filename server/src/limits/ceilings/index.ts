export { deleteCeiling } from "./delete.ts";
export { getCeiling } from "./get.ts";
export { listCeilings } from "./list.ts";
export { setCeiling } from "./set.ts";
