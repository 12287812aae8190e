"""Reference values for tests/distributions.rs: pip install scipy torch; python distributions.py"""
import numpy as np
import torch
from scipy import stats, integrate

x = np.array([-0.5, 0.25, 1.5])
mean = np.array([0.0, 1.0, -1.0])
variance = np.array([1.0, 0.25, 4.0])
print("normal", stats.norm(mean, np.sqrt(variance)).logpdf(x).sum())

logits = torch.tensor([-2.0, 0.5, 30.0])
binary = torch.tensor([0.0, 1.0, 1.0])
print("bernoulli", torch.distributions.Bernoulli(logits=logits).log_prob(binary).sum().item())

logits = torch.tensor([1.0, -1.0, 0.5])
categorical = torch.distributions.Categorical(logits=logits)
print("categorical log probs", torch.log_softmax(logits, 0).tolist())
print("categorical entropy", categorical.entropy().item())


def truncated(mu, sigma):
    return stats.truncnorm((-1 - mu) / sigma, (1 - mu) / sigma, loc=mu, scale=sigma)


def noise_normal(rho, mu, sigma):
    normal = truncated(mu, sigma)
    pdf = lambda x: rho * normal.pdf(x) + (1 - rho) / 2
    mean = rho * normal.mean()
    return pdf, mean


for rho, mu, sigma, x in [(0.9, 0.3, 0.2, 0.1), (0.5, -0.95, 0.05, -1.0), (0.99, 0.8, 3.0, -0.7), (0.2, 0.0, 0.01, 0.9)]:
    pdf, mean = noise_normal(rho, mu, sigma)
    print("noise-normal", (rho, mu, sigma, x), "log pdf", np.log(pdf(x)), "mean", mean,
          "integral", integrate.quad(pdf, -1, 1, points=[mu])[0])

q = torch.distributions.Normal(torch.tensor([0.5, -1.0]), torch.tensor([0.3, 2.0]))
p = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
print("kl", torch.distributions.kl_divergence(q, p).sum().item())
