/** The output caps of the three protocols. */
export const capNames = ["max_tokens", "max_completion_tokens", "max_output_tokens"] as const;

export type CapName = (typeof capNames)[number];

/** Numbers that some server takes for its output cap, even beside one of {@link capNames}. */
export const otherCapNames = [
  "n_predict",
  "num_predict",
  "max_new_tokens",
  "max_tokens_to_sample",
  "max_length",
  "max_gen_len",
] as const;

/** Objects in which some server looks for its output cap. */
export const capHolders = ["options", "parameters", "sampling_params", "generation_config"] as const;
