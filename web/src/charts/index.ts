export { Sparkline } from "./sparkline.tsx";
