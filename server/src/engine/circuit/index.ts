export { type Circuit, circuitPolicy, type Pass } from "./circuit.ts";
export { type Circuits, createCircuits } from "./circuits.ts";
