export { CeilingsPanel } from "./ceilings-panel.tsx";
export { LimitState } from "./limit-state.tsx";
