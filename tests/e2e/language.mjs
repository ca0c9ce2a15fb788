// What of the page's texts has no words in the other language.
import { readFileSync } from "node:fs";

import { translator } from "../../static/boot/language/translate.js";
import { path } from "./browser.mjs";

const catalog = (name) => JSON.parse(readFileSync(path(`static/catalog/${name}.json`)));

/** Words that are the same in both: units, abbreviations of the field, file formats, commands, names of things. */
const SAME = `
  ms us kB MB GB TB KiB MiB GiB TiB FLOP TFLOP GFLOP PFLOP tok token tokens GHz MHz kW
  TTFT TPOT ITL ISL OSL SLO SLOs GPU GPUs CPU HBM KV TP PP EP DP MoE MLA GQA MHA MQA DSA SM SMs MTP CTA NVLink PCIe NVL SXM
  BF16 FP8 FP4 NVFP4 MXFP4 INT4 INT8 FP16 AWQ GPTQ W8A8 bf16 fp8 nvfp4 mxfp4 int4 int8 Mamba RoPE
  SVG PNG CSV JSON Markdown BibTeX HTML URL HTTP Ctrl Shift Esc Tab Alt Enter min max
  vLLM SGLang TensorRT-LLM TensorRT LLM Rooflight PipeWeave SynPerf aiconfigurator InferenceX InferenceMAX MLPerf NVIDIA NCCL CUDA
  Azure BurstGPT Mooncake Vidur ShareGPT DeepGEMM CUTLASS FlashAttention FlashInfer Triton config.json hf_quant_config
  MFLOP MFU MBU MLP habitat neusight Dynamo Llama gpt-oss arXiv Splitwise RAG
  sigma gamma Ray srun mpirun compress
  embedding router sampling topk dispatch combine
  Ada Ampere Hopper Blackwell Turing Volta SiLU RMSNorm
`.trim().split(/\s+/);

const NAMES = [
  ...catalog("models").models, ...catalog("gpus").gpus, ...catalog("engines").engines,
].flatMap(({ id, name }) => [id, name]);

const WORD = /[A-Za-z][A-Za-z'-]{2,}/g;

export const table = JSON.parse(readFileSync(path("static/language/zh.json")));
export const say = translator(table);

const same = new Set([...SAME, ...NAMES.flatMap((name) => name.match(WORD) ?? [])].map((word) => word.toLowerCase()));

/** The words of `text`, as it is shown, that should be in the other language and are not. */
export function unsaid(text) {
  // What somebody wrote, and what a program calls something: kernels, options, files, links.
  const quoted = /“[^”]*”|"[^"]*"|`[^`]*`/g;
  const named = /\S*[_/=.:\d]\S*|--\S+|#\S+/g;
  const said = text.replace(quoted, " ").replace(named, (found) => (/[A-Za-z]+[_/=]|--|\d|\.\w/.test(found) ? " " : found));
  const words = said.match(WORD) ?? [];
  return words.filter((word) => !same.has(word.toLowerCase()));
}
