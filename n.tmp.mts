import "./gate.tmp.mts";
await new Promise((r) => setTimeout(r, 1500));
const post = async (path: string, body: object) => {
  const r = await fetch(`http://127.0.0.1:18080/v1/${path}`, { method: "POST", headers: { authorization: "Bearer sk-pro", "content-type": "application/json" }, body: JSON.stringify(body) });
  const t = await r.text(); return [r.status, t] as const;
};
const weird: unknown[] = ["x", -1, 1e300, {}, [], ["x"], [[1]], { a: 1 }, true, 0.5, "\ud800", [{}], 99999];
const names = ["temperature","top_p","top_k","min_p","seed","stop","logit_bias","logprobs","top_logprobs","frequency_penalty","presence_penalty","repeat_penalty","grammar","json_schema","response_format","samplers","user","n","max_tokens","typical_p","mirostat","dry_multiplier","cache_prompt","n_probs","n_keep","t_max_predict_ms","lora","return_tokens","timings_per_token","post_sampling_probs","stream_options","tools","tool_choice","parallel_tool_calls","reasoning_format","chat_template_kwargs","add_generation_prompt","reasoning_effort","thinking_forced_open","parse_tool_calls","logit_bias","dimensions","encoding_format","embd_normalize","top_n","query","documents","input","return_text","sse_ping_interval","response_fields","backend_sampling","speculative.n_max","id_slot","n_indent","xtc_probability","continue_final_message","message_delimiters","reasoning_budget_tokens","preserved_tokens","grammar_triggers","grammar_lazy","n_discard","dynatemp_range","penalty_last_n","dry_sequence_breakers","adaptive_target"];
const base: [string, object][] = [["completions", { model: "acme/small", prompt: "Hi", max_tokens: 2 }], ["chat/completions", { model: "acme/small", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 }], ["embeddings", { model: "acme/embed", input: "Hi" }], ["rerank", { model: "acme/rank", query: "a", documents: ["b", "c"] }]];
const seen = new Map<string, string[]>();
for (const [path, b] of base) for (const name of names) for (const v of weird) {
  const [s, t] = await post(path, { ...b, [name]: v });
  if (s >= 500) { const k = `${path} ${name}`; seen.set(k, [...(seen.get(k) ?? []), `${JSON.stringify(v)}:${s}`]); }
}
for (const [k, v] of seen) console.log(k, v.join(" "));
console.log("end");
process.exit(0);
