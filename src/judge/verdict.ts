export { readVerdict, type Verdict } from "../core/verdict.ts";
