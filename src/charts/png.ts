/**
 * SVG to PNG by resvg, compiled to WebAssembly: one file for all platforms and no system fonts, so
 * that the same chart has the same bytes everywhere.
 */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** Rasterises a chart. `scale` is pixels per unit of the SVG, 0.1 to 8; the default suits screens. */
export async function toPng(svg: string, options: { scale?: number } = {}): Promise<Uint8Array> {
  const { scale = 2 } = options;
  if (!(scale >= 0.1 && scale <= 8)) {
    throw new RangeError(`scale must lie between 0.1 and 8, found ${scale}`);
  }
  rasteriser ??= loadRasteriser();
  const { Resvg, fonts } = await rasteriser;
  const renderer = new Resvg(svg, {
    fitTo: { mode: "zoom", value: scale },
    font: { fontBuffers: fonts, defaultFontFamily: FAMILY, sansSerifFamily: FAMILY },
  });
  const image = renderer.render();
  try {
    return image.asPng();
  } finally {
    // Memory of the module is not the garbage collector's.
    image.free();
    renderer.free();
  }
}

const FAMILY = "Room Sans";
let rasteriser: ReturnType<typeof loadRasteriser> | undefined;

/** Only once for each process: the module refuses a second time. */
async function loadRasteriser() {
  const wasm = createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm");
  const [{ initWasm, Resvg }, code, ...fonts] = await Promise.all([
    import("@resvg/resvg-wasm"),
    readFile(wasm),
    // The same relative place from src/charts and from dist/charts.
    readFile(new URL("../../assets/room-sans-regular.ttf", import.meta.url)),
    readFile(new URL("../../assets/room-sans-bold.ttf", import.meta.url)),
  ]);
  await initWasm(code);
  return { Resvg, fonts };
}
