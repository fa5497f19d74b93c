export { BarChart, type ChartColumn, type ChartTone } from "./bar-chart.tsx";
export { Sparkline } from "./sparkline.tsx";
