export { type FetchedModels, fetchModelList } from "./fetch-model-list.ts";
export { strictModelNames } from "./model-list-format.ts";
export { ModelLists } from "./recent-model-lists.ts";
